import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { client } from '../../api/query'
import { t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Confirm, Dialog } from '../../ui/dialog'
import { Select } from '../../ui/field'
import { Badge, Button, Curl, Failed, Loading } from '../../ui/parts'
import { Changes } from './changes'
import { difference } from './diff'
import { type Document, type Engine, type Opened, type Version, versionsOf } from './engine'
import { openedKey } from './use-draft'

export const useVersions = (engine: Engine, id: string, enabled = true) => useQuery({ queryKey: ['versions', id], queryFn: () => versionsOf(engine, id), enabled })

/** Versions lists what was published: each can be compared, taken as the draft, or made to answer again. */
export function Versions({ engine, opened, document, restore }: { engine: Engine; opened: Opened; document: Document; restore: (document: Document) => void }) {
  const list = useVersions(engine, opened.id)
  const [comparing, setComparing] = useState<Version | null>(null)
  const [back, setBack] = useState<Version | null>(null)
  const roll = useAct((version: Version) => engine.rollback(opened.id, version), {
    said: t('edit.rolledBack'),
    then: async (next) => {
      setBack(null)
      client.setQueryData(openedKey(engine, opened.id), next)
      await client.invalidateQueries({ queryKey: ['versions', opened.id] })
    },
  })
  return (
    <div className="stack">
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.data?.length === 0 && <p className="mute">{t('edit.noVersions')}</p>}
      <ul className="stack">
        {list.data?.map((one) => (
          <li key={one.version} className="stack tight version-row">
            <div className="row spread">
              <strong>{t('flows.version', { n: one.version })}</strong>
              {one.version === opened.version && <Badge tone="ok">{t('edit.live')}</Badge>}
              <span className="small mute">{time(one.createdAt)}</span>
            </div>
            <div className="row">
              <Button onClick={() => setComparing(one)}>{t('edit.compare')}</Button>
              <Button onClick={() => restore(one.document)}>{t('edit.restore')}</Button>
              {one.version !== opened.version && <Button onClick={() => setBack(one)}>{t('edit.rollback')}</Button>}
            </div>
          </li>
        ))}
      </ul>
      <Curl path={`${engine.path(opened.id)}/versions`} />
      {comparing && <Compare first={comparing} all={list.data ?? []} draft={document} close={() => setComparing(null)} />}
      {back && <Confirm title={t('edit.rollback')} text={t('edit.rollbackText', { n: back.version })} action={t('edit.rollback')} busy={roll.isPending} run={() => roll.mutate(back)} close={() => setBack(null)} />}
    </div>
  )
}

function Compare({ first, all, draft, close }: { first: Version; all: Version[]; draft: Document; close: () => void }) {
  const [to, setTo] = useState('')
  const other = all.find((one) => String(one.version) === to)?.document ?? draft
  const differs = useMemo(() => difference(first.document, other), [first, other])
  return (
    <Dialog title={t('edit.compareTitle', { n: first.version })} close={close} wide>
      <div className="stack">
        <Select
          label={t('edit.compareWith')}
          value={to}
          onChange={(event) => setTo(event.target.value)}
          options={[{ value: '', label: t('edit.draft') }, ...all.filter((one) => one.version !== first.version).map((one) => ({ value: String(one.version), label: t('flows.version', { n: one.version }) }))]}
        />
        <Changes of={differs} names={other} />
      </div>
    </Dialog>
  )
}
