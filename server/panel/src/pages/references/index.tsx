import { useState } from 'react'
import { Link, useParams } from 'wouter'
import { api, got } from '../../api/client'
import { usePages } from '../../api/query'
import { useMay } from '../../session'
import { t } from '../../text'
import { Button, Curl, Empty, Failed, Loading, More, PageHead } from '../../ui/parts'
import { StateBadge } from '../../ui/state'
import { Create } from './create'
import type { Kind } from './kind'
import { Reference } from './reference'
import './references.css'

/** References lists the references, or shows one. */
export default function References() {
  const { id } = useParams<{ id?: string }>()
  return id ? <Reference key={id} id={Number(id)} /> : <List />
}

function List() {
  const [creating, setCreating] = useState(false)
  const may = useMay('references.write')
  const list = usePages(['references', 'pages'], (cursor) => got(api.GET('/reference/list', { params: { query: cursor ? { cursor } : {} } })))
  const create = may && (
    <Button tone="main" icon="plus" onClick={() => setCreating(true)}>
      {t('references.create')}
    </Button>
  )
  return (
    <div className="page">
      <PageHead title={t('references.title')}>{create}</PageHead>
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.isSuccess && list.items.length === 0 && (
        <Empty title={t('references.none')} action={create}>
          {t('references.noneText')}
        </Empty>
      )}
      {list.items.length > 0 && (
        <ul className="references">
          {list.items.map((reference) => (
            <li key={reference.id}>
              <Link className="card reference" href={`/references/${reference.id}`} data-row>
                <span className="grow">
                  <strong dir="auto">{reference.name}</strong>
                  <br />
                  <span className="small mute">
                    {t(`references.${reference.type as Kind}`)} · {reference.session.account?.name || reference.session.account?.id || `#${reference.id}`}
                  </span>
                </span>
                <StateBadge session={reference.session} />
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
