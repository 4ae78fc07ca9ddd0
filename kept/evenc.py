import sys,time
from pathlib import Path
sys.path.insert(0,'.'); sys.path.insert(0,'./tools')
import torch; torch.set_num_threads(1)
import numpy as np
import train_accurate as T, tagger_training as tr
from sklearn.metrics import average_precision_score as AP
work=Path('work'); g=tr.material(T.all_turns(Path('../shared/data'),work),work)
def groups(names):
    return {'mi':[i for i,n in enumerate(names) if n.startswith('mi_')],'misc':[i for i,n in enumerate(names) if n.startswith('misc_')],'bolt':[i for i,n in enumerate(names) if n.startswith('bolt_')],'miti':[i for i,n in enumerate(names) if n.startswith('miti_')],'process':[i for i,n in enumerate(names) if n.startswith('process_')]}
HUMAN={'mi':'annomi','misc':'misc','bolt':'bolt','miti':'annomi'}
def score(S,names,fold):
    te=g.turns.left_out(fold); co=g.turns.table['corpus'].to_numpy(); out={}
    for k,ix in groups(names).items():
        v=[]
        for i in ix:
            j=g.turns.names.index(names[i]); m=te&(g.turns.weights[:,j]>0)&~np.isnan(S[:,i])
            if k in HUMAN: m=m&((co==HUMAN[k]) if k!='miti' else np.isin(co,['annomi','hlqc']))
            y=g.turns.labels[m,j]>=.5
            if y.sum()>=5 and (~y).any(): v.append(AP(y,S[m,i]))
        out[k]=round(float(np.mean(v)),3) if v else None
    return out
if __name__=='__main__':
    fold=sys.argv[1]; net=T.encoder(g,work,fold)
    codes=tr.encoder_codes(g.turns); names=[g.turns.names[c] for c in codes]
    te=g.turns.left_out(fold); r=g.readings['clean']
    co=g.turns.table['corpus'].to_numpy(); te=te&np.isin(co,['annomi','misc','bolt','hlqc'])
    ch=np.flatnonzero(te[r.turn_of]); S=np.full((len(te),len(codes)),np.nan)
    with torch.inference_mode():
        for s in range(0,len(ch),2000):
            c=ch[s:s+2000]
            with torch.autocast('cpu',dtype=torch.bfloat16): v=net(g,r,c)
            u,inv=np.unique(r.turn_of[c],return_inverse=True); S[u]=net.scores(v,torch.from_numpy(inv),len(u)).numpy()
    print(fold,score(S,names,fold)); np.savez(f'e_{fold}.npz',S=S,names=names)
    from sklearn.metrics import cohen_kappa_score as K
    for i,n in enumerate(names):
        if n.startswith('mi_'):
            j=g.turns.names.index(n); m=g.turns.left_out(fold)&(co=='annomi')&(g.turns.weights[:,j]>0)&~np.isnan(S[:,i]); y=g.turns.labels[m,j]>=.5
            if y.sum()>=5: print(n,y.sum(),'AP %.3f kappa %.3f'%(AP(y,S[m,i]),max(K(y,S[m,i]>t) for t in np.arange(-3,2,.25))))
