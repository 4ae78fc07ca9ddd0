import sys
from pathlib import Path
sys.path.insert(0,'.'); sys.path.insert(0,'./tools')
import numpy as np, train_accurate as T
from process_judged import kappas,NAMES,FEWEST
work=Path('work'); g=T.all_turns(Path('../shared/data'),work)
for names in ([T.BY_RECORDING] if len(sys.argv)<2 else [T.BY_RECORDING,T.CORPORA]):
    d=T.unseen_of(g,work,names); o=[]
    for at,n in enumerate(NAMES):
        if d.truth[d.judged(at),at].sum()>=FEWEST: k=kappas(d,at); o.append(k[0]); print(n,'%.2f'%k[0],'%.2f'%k[1],end='; ')
    print('\nmean',np.mean(o),len(o))
