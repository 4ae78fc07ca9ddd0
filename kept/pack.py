"""Pack fold encoders as four-bit differences to MiniLM, or unpack them into a working folder: pack.py FILE WORK [unpack]."""
import io, lzma, sys
import numpy as np, torch
import tagger_encoder as te
base = te.Upper().state_dict()
path, work = sys.argv[1:3]
if len(sys.argv) < 4:
    out = {}
    for n in "01234":
        for k, v in torch.load(f"{work}/{n}.encoder.pt").items():
            if k.startswith("upper.") and v.ndim == 2:
                d = (v - base[k[6:]]).float().numpy()
                s = np.minimum(np.abs(d).max(1), 2.8 * d.std(1)) / 7 + 1e-12
                u = (np.clip(np.round(d / s[:, None]), -8, 7) + 8).astype(np.uint8).ravel()
                out[f"{n}|{k}|q"], out[f"{n}|{k}|s"] = (u[::2] << 4) | u[1::2], s.astype(np.float32)
            else:
                out[f"{n}|{k}"] = v.numpy().astype(np.float16)
    b = io.BytesIO(); np.savez(b, **out)
    open(path, "wb").write(lzma.compress(b.getvalue(), preset=6))
else:
    z = np.load(io.BytesIO(lzma.decompress(open(path, "rb").read())))
    for n in "01234":
        sd = {}
        for key in z.files:
            if not key.startswith(n + "|"): continue
            k = key.split("|")[1]
            if key.endswith("|q"):
                u = np.stack([z[key] >> 4, z[key] & 15], 1).ravel().astype(np.float32) - 8
                sd[k] = base[k[6:]] + torch.from_numpy(u.reshape(base[k[6:]].shape) * z[f"{n}|{k}|s"][:, None])
            elif not key.endswith("|s"):
                sd[k] = torch.from_numpy(z[key].astype(np.float32))
        torch.save(sd, f"{work}/{n}.encoder.pt")
