import { useMemo } from 'react'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { Button } from '../../ui/parts'
import { useGo } from '../../ui/query-state'
import { Changes } from './changes'
import { difference } from './diff'
import type { Draft } from './draft'
import { copyOf, type Document, type Engine, type Opened } from './engine'

/** Conflict shows that somebody else has saved, what differs, and lets choose; nothing is lost by looking. */
export function Conflict({ engine, draft, mine, theirs, close }: { engine: Engine; draft: Draft; mine: Document; theirs: Opened; close: () => void }) {
  const go = useGo()
  const differs = useMemo(() => difference(theirs.document, mine), [theirs, mine])
  const copy = useAct(
    () => {
      const name = t('edit.copyOf', { name: theirs.name })
      return engine.copy(theirs, name, copyOf(mine, name))
    },
    {
      said: t('edit.copied'),
      then: (made) => {
        draft.takeTheirs()
        go(`/flows/${engine.name}/${made.id}`)
      },
    },
  )
  return (
    <Dialog
      title={t('edit.theirs', { n: theirs.revision })}
      close={close}
      wide
      footer={
        <div className="row">
          <Button tone="bad" onClick={() => void draft.overwrite()}>
            {t('edit.overwrite')}
          </Button>
          <Button busy={copy.isPending} onClick={() => copy.mutate(undefined)}>
            {t('edit.asCopy')}
          </Button>
          <Button tone="main" onClick={draft.takeTheirs}>
            {t('edit.takeTheirs')}
          </Button>
        </div>
      }
    >
      <div className="stack">
        <p>{t('edit.conflictText')}</p>
        <h3>{t('edit.yours')}</h3>
        <div className="changes-box" tabIndex={0} role="region" aria-label={t('edit.yours')}>
          <Changes of={differs} names={mine} />
        </div>
      </div>
    </Dialog>
  )
}
