import { useState } from 'react'
import { api, got, root, type Schemas } from '../../api/client'
import { usePages } from '../../api/query'
import { t, time } from '../../text'
import { Input, Select } from '../../ui/field'
import { Badge, Curl, Failed, Loading, More } from '../../ui/parts'
import { useFilter } from '../../ui/query-state'

type Entry = Schemas['AuditEntry']

const kinds = ['cookie', 'login', 'token', 'agent', 'operator', 'system', 'nobody'] as const
type Kind = (typeof kinds)[number]

/** Audit is the log of what was done in the account, newest first. */
export function Audit() {
  const [kind, setKind] = useFilter('kind')
  const [action, setAction] = useFilter('action')
  const [since, setSince] = useFilter('since')
  const [until, setUntil] = useFilter('until')
  const query = {
    ...(kind ? { kind: kind as Kind } : {}),
    ...(action ? { action } : {}),
    ...(since ? { since: day(since) } : {}),
    ...(until ? { until: day(until) + 86_400 } : {}),
  }
  const list = usePages(['audit', query], (cursor) => got(api.GET('/audit', { params: { query: { ...query, ...(cursor ? { cursor } : {}) } } })) as Promise<{ items: Entry[]; next: string | null }>)
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
  return (
    <section className="stack" aria-labelledby="audit">
      <h2 id="audit">{t('audit.title')}</h2>
      <p className="mute">{t('audit.text')}</p>
      <div className="filters">
        <Select label={t('audit.kind')} value={kind} onChange={(e) => setKind(e.target.value)} options={[{ value: '', label: t('all') }, ...kinds.map((value) => ({ value, label: t(`audit.${value}`) }))]} />
        <Action value={action} set={setAction} />
        <Input label={t('audit.since')} type="date" value={since} onChange={(e) => setSince(e.target.value)} />
        <Input label={t('audit.until')} type="date" value={until} onChange={(e) => setUntil(e.target.value)} />
        <a className="button" href={`${root}/audit?${new URLSearchParams([...search, ['format', 'csv']])}`} download="audit.csv">
          {t('audit.csv')}
        </a>
      </div>
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.isSuccess && list.items.length === 0 && <p className="mute">{t('audit.none')}</p>}
      <ul>
        {list.items.map((entry) => (
          <Row key={entry.id} entry={entry} />
        ))}
      </ul>
      <More list={list} />
      <Curl path={`/audit${search.size > 0 ? `?${search}` : ''}`} />
    </section>
  )
}

/** day is when a day begins here, in UNIX seconds. */
const day = (date: string) => Math.floor(new Date(`${date}T00:00`).getTime() / 1000)

/** Action is a filter that waits for Enter: the list is not read for every letter. */
function Action({ value, set }: { value: string; set: (next: string) => void }) {
  const [typed, type] = useState(value)
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault()
        set(typed)
      }}
    >
      <Input label={t('audit.action')} value={typed} placeholder="user.update" onChange={(e) => type(e.target.value)} onBlur={() => set(typed)} />
    </form>
  )
}

function Row({ entry }: { entry: Entry }) {
  const { actor, object } = entry
  return (
    <li className="delivery">
      <details>
        <summary className="row spread">
          <span>
            <Badge>{entry.action}</Badge> <span dir="auto">{object.name ?? object.id ?? ''}</span>
          </span>
          <span className="small mute">
            {actor.email ?? t(`audit.${actor.kind}`)} · {time(entry.at, 'long')}
          </span>
        </summary>
        <dl className="facts">
          {facts(entry).map(([name, value]) => (
            <div key={name} className="fact">
              <dt>{t(`audit.${name}`)}</dt>
              <dd className="mono">{value}</dd>
            </div>
          ))}
        </dl>
      </details>
    </li>
  )
}

/** facts are what is known of an entry beside its summary. */
function facts({ actor, address, requestId, object, reference, details }: Entry) {
  const all = [
    ['kind', t(`audit.${actor.kind}`)],
    ['address', address],
    ['requestId', requestId],
    ['object', [object.type, object.id].filter(Boolean).join(' ')],
    ['reference', reference],
    ['tokenId', actor.tokenId],
    ['runId', actor.runId],
    ['details', JSON.stringify(details)],
  ] as const
  return all.filter((fact) => fact[1] !== null && fact[1] !== '' && fact[1] !== '{}')
}
