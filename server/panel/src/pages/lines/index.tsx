import { useState } from 'react'
import { Link, useParams } from 'wouter'
import { api, got } from '../../api/client'
import { useNews } from '../../api/live'
import { client, usePages } from '../../api/query'
import { useMay } from '../../session'
import { t } from '../../text'
import { Button, Curl, Empty, Failed, Loading, More, PageHead } from '../../ui/parts'
import { StateBadge } from '../../ui/state'
import { Create } from './create'
import type { Kind } from './kind'
import { Line } from './line'
import './lines.css'

/** Lines lists the references, or shows one. */
export default function Lines() {
  const { id } = useParams<{ id?: string }>()
  useNews((news) => {
    if (news.kind !== 'session') return
    void client.invalidateQueries({ queryKey: ['references'] })
    void client.invalidateQueries({ queryKey: ['reference', Number(news.data.reference)] })
  })
  return id ? <Line key={id} id={Number(id)} /> : <List />
}

function List() {
  const [creating, setCreating] = useState(false)
  const may = useMay('references.write')
  const list = usePages(['references', 'pages'], (cursor) => got(api.GET('/reference/list', { params: { query: cursor ? { cursor } : {} } })))
  const create = may && (
    <Button tone="main" icon="plus" onClick={() => setCreating(true)}>
      {t('lines.create')}
    </Button>
  )
  return (
    <div className="page">
      <PageHead title={t('lines.title')}>{create}</PageHead>
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.isSuccess && list.items.length === 0 && (
        <Empty title={t('lines.none')} action={create}>
          {t('lines.noneText')}
        </Empty>
      )}
      {list.items.length > 0 && (
        <ul className="lines">
          {list.items.map((line) => (
            <li key={line.id}>
              <Link className="card line" href={`/references/${line.id}`} data-row>
                <span className="grow">
                  <strong dir="auto">{line.name}</strong>
                  <br />
                  <span className="small mute">
                    {t(`lines.${line.type as Kind}`)} · {line.session.account?.name || line.session.account?.id || `#${line.id}`}
                  </span>
                </span>
                <StateBadge session={line.session} />
              </Link>
            </li>
          ))}
        </ul>
      )}
      <More list={list} />
      <Curl path="/reference/list" />
      {creating && <Create close={() => setCreating(false)} />}
    </div>
  )
}
