import sys; sys.path.insert(0,'kept')
from evenc import *
import ast
torch.set_num_threads(1)
fold,name=sys.argv[1:3]; seed=int(sys.argv[3]); 
for kv in sys.argv[4:]:
    k,v=kv.split('=')
    if k=='WAYP': tr.WAYP=ast.literal_eval(v)
    elif k=='SOFT': SOFTF=v.split(',')
    else: setattr(tr,k,type(getattr(tr,k))(ast.literal_eval(v)))
soft=None
if any(a.startswith('SOFT=') for a in sys.argv):
    soft=np.mean([np.load(f'kept/{f}_soft.npy').astype(np.float32) for f in SOFTF],0)
    SA=.5
    codes=tr.encoder_codes(g.turns); L=g.turns.labels.copy(); Wt=g.turns.weights.copy()
    m=Wt[:,codes]>0
    A=L[:,codes]; A[m]=(1-SA)*A[m]+SA*soft[m]; L[:,codes]=A
    import dataclasses
    g=dataclasses.replace(g,turns=dataclasses.replace(g.turns,labels=L)) if False else g
    object.__setattr__(g.turns,'labels',L)
orig=g.turns.labels
keep=~g.turns.left_out(fold)
t=time.time(); net=tr.train_encoder(g,keep,seed)
if soft is not None: object.__setattr__(g.turns,'labels',T.all_turns(Path('../shared/data'),work).labels)
codes=tr.encoder_codes(g.turns); names=[g.turns.names[c] for c in codes]
torch.save(net.state_dict(),f'kept/{name}.pt')
r=g.readings['clean']; lab=g.turns.weights[:,codes].any(1)
ch=np.flatnonzero(lab[r.turn_of]); S=np.full((len(lab),len(codes)),np.nan,dtype=np.float32)
with torch.inference_mode():
    for s in range(0,len(ch),3000):
        # cut at turn borders
        pass
    b=np.flatnonzero(np.diff(r.turn_of[ch],prepend=-1)); edges=[b[i] for i in range(0,len(b),1000)]+[len(ch)]
    for lo,hi in zip(edges[:-1],edges[1:]):
        c=ch[lo:hi]; v=net(g,r,c); u,inv=np.unique(r.turn_of[c],return_inverse=True); S[u]=net.scores(v,torch.from_numpy(inv),len(u)).numpy()
np.save(f'kept/{name}_soft.npy',(1/(1+np.exp(-S))).astype(np.float16)); 
print(name,'%.0fs'%(time.time()-t),score(S,names,fold),flush=True)
