import sys,re,json
from pathlib import Path
sys.path.insert(0,'.'); sys.path.insert(0,'./tools')
import numpy as np, pandas as pd
import train_accurate as T, tagger_first
from tagger_judged import table
from process_judged import table as ptable
work=Path('work'); data=Path('../shared/data')
g=T.all_turns(data,work); corpus=tagger_first.labelled(data)
found,lines=T.weighed(g,data,work); fast=T.fast_unseen(corpus,data,work)
ta_=table({k:v for k,v in found.items() if not k.startswith('epitome')},corpus.turns); tf=table(fast,corpus.turns)
doc=Path('./docs/tagger_codes.md'); s=doc.read_text()
a=s.index('| `mi_question` | clean'); b=s.index("\n\n\nBOLT's rows with thresholds")
keep=[re.findall(r'`([^`]+)` \| ([^|]+) \|',l)[0] for l in s[a:b].split('\n') if l.startswith('|')]
rows=[]
for code,on in keep:
    on=on.strip(); code2=code
    r=ta_.loc[(code,on)] if (code,on) in ta_.index else None
    f=tf.loc[(code,on)] if (code,on) in tf.index else None
    if r is None: print('missing',code,on); continue
    rows.append(f"| `{code}` | {on} | {int(r['turns'])} | {f['F1']:.2f} | {r['F1']:.2f} | {r['kappa']:.2f} | {r['average precision']:.2f} | {r['true rate']:.3f} | {r['decided rate']:.3f} | {r['mean p']:.3f} | {r['calibration error']:.3f} |")
ep=table({k:v for k,v in found.items() if k.startswith('epitome')},g.table.assign(source=g.table['corpus']))
for (code,on),r in ep.iterrows():
    if on=='clean': rows.append(f"| `{code}` | clean | {int(r['turns'])} | | {r['F1']:.2f} | {r['kappa']:.2f} | {r['average precision']:.2f} | {r['true rate']:.3f} | {r['decided rate']:.3f} | {r['mean p']:.3f} | {r['calibration error']:.3f} |")
s=s[:a]+'\n'.join(rows)+s[b:]
both=[T.unseen_of(g,work,n) for n in (T.BY_RECORDING,T.CORPORA)]
pt=ptable(*both); print(pt[-200:])
a=s.index('| code | cases | kappa, recording left out'); b=s.index('\n\n',a)
m=pt.strip().split('\n\nMean'); s=s[:a]+m[0].strip()+s[b:]
doc.write_text(s)
from tagger_judged import bolt_f1
for k,v in found.items():
    if k.startswith('bolt'): print(k,round(bolt_f1(v,corpus.turns),2),end='; ')
print()
import tagger_transfer as tt
print(tt.left_out(g,{n:T.without(g,work,n) for n in T.CODED if (work/f'{n}.npz').exists()}).round(3))
print(tt.process_off(both[1]).round(4)); print(tt.process_off(both[0]).round(4))
