import sys; sys.path.insert(0,'kept')
from evenc import *
import tagger_sequence as ts
from process_corpus import NAMES
P=[g.turns.names.index(f'process_{n}') for n in NAMES]
co=g.turns.table['corpus'].to_numpy()
def ap(S,name):
    te=g.turns.left_out(name); te=te&(np.isin(co,['annomi','hlqc','mibot','vera_mh','mindeval','spiral_bench'])) 
    if name in T.CORPORA: te=te&(co==name)
    v=[]
    for j in P:
        m=te&(g.turns.weights[:,j]>0)&~np.isnan(S[:,j]); y=g.turns.labels[m,j]>=.5
        if y.sum()>=10 and (~y).any(): v.append(AP(y,S[m,j]))
    return float(np.mean(v)),len(v)
names=sys.argv[1].split(',')
base=[]
for n in names:
    z=np.load(work/f'{n}.npz'); S=np.full(g.turns.labels.shape,np.nan); S[z['rows']]=z['clean']; base.append(ap(S,n))
print('base',[(n,'%.3f'%a,k) for n,(a,k) in zip(names,base)],'%.4f'%np.mean([a for a,_ in base]),flush=True)
for v in sys.argv[2:]:
    conf=dict(kv.split('=') for kv in v.split(';')); old=[]
    for k,val in conf.items():
        mod=ts if k=='DROPOUT' else tr; old.append((mod,k,getattr(mod,k))); setattr(mod,k,eval(val))
    res=[]; t=time.time()
    for n in names:
        e=n if n in (*T.BY_RECORDING,*T.CODED) else 'whole'
        read=T.encoder_vectors(g,work,e); un=g.turns.left_out(n)
        net=tr.train_sequence(g,read,~un,[*T.HELD,T.WHOLE].index(n))
        S=tr.scores(T.encoder(g,work,e),net,g,read['clean'],un,'clean'); res.append(ap(S,n))
    for mod,k,val in old: setattr(mod,k,val)
    print(v,[(n,'%.3f'%a) for n,(a,k) in zip(names,res)],'%.4f'%np.mean([a for a,_ in res]),'%.0fs'%(time.time()-t),flush=True)
