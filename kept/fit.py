import sys,time,os
from pathlib import Path
sys.path.insert(0,'.'); sys.path.insert(0,'./tools')
import torch; torch.set_num_threads(1)
import numpy as np
import train_accurate as T, tagger_training as tr
for k,v in os.environ.items():
    if k.startswith('TR_'): setattr(tr,k[3:],type(getattr(tr,k[3:]))(eval(v)))
work=Path('work'); g=tr.material(T.all_turns(Path('../shared/data'),work),work)
for job in sys.argv[1:]:
    kind,name=job.split(':'); t=time.time()
    if kind=='enc': T.encoder(g,work,name)
    elif kind=='vec': T.encoder_vectors(g,work,name)
    elif kind=='seq': T.fit(g,work,name)
    elif kind=='fast':
        import tagger_first
        T.fast_unseen(tagger_first.labelled(Path('../shared/data')),Path('../shared/data'),work)
    print(job,'%.0f s'%(time.time()-t),time.strftime('%H:%M:%S'),flush=True)
