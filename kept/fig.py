import sys
from pathlib import Path
sys.path.insert(0,'.'); sys.path.insert(0,'./tools')
import pandas as pd, numpy as np
import train_accurate as T, tagger_first, tagger_posts
from tagger_judged import MUST, figures
work=Path('work'); data=Path('../shared/data')
g=T.all_turns(data,work); corpus=tagger_first.labelled(data)
about=pd.read_csv(data/'annomi'/'annomi.csv').drop_duplicates('transcript_id').set_index('transcript_id')
found,_=T.weighed(g,data,work)
fast=T.fast_unseen(corpus,data,work)
acc=figures({n:found[n] for n in fast},corpus.turns,about)|tagger_posts.figures(g,T.together(g,work,T.BY_RECORDING,'clean')[0])
fa=figures(fast,corpus.turns,about)
for k,v in MUST.items(): print(f"{k:55s} fast {fa.get(k,np.nan):.3f} acc {acc.get(k,np.nan):.3f} must {v[0]}")
