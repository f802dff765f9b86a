import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useParams } from 'wouter'
import { api, got } from '../../api/client'
import { useMay } from '../../session'
import { t } from '../../text'
import { LineChoice, type Reference, useLine } from '../../ui/line-choice'
import { Button, Curl, Empty, Failed, Loading, PageHead } from '../../ui/parts'
import { Add } from './add'
import { Deliveries } from './deliveries'
import { EndpointCard } from './endpoint'
import { Echo } from './echo'
import { echo } from './target'
import './webhooks.css'

/** Webhooks shows the endpoints of a line and what was delivered to them. */
export default function Webhooks() {
  const { reference } = useParams<{ reference?: string }>()
  const may = useMay('references.read')
  const { line, lines, isPending, error, refetch } = useLine(reference)
  if (!may) return <Empty title={t('webhooks.title')}>{t('webhooks.noLines')}</Empty>
  if (isPending) return <Loading />
  if (error) return <Failed error={error} again={() => void refetch()} />
  if (!line) {
    return (
      <Empty
        title={t('webhooks.title')}
        action={
          <Link className="button main" href="/references">
            {t('nav.references')}
          </Link>
        }
      >
        {t('webhooks.noLines')}
      </Empty>
    )
  }
  return <OfLine key={line.id} line={line} lines={lines} />
}

function OfLine({ line, lines }: { line: Reference; lines: Reference[] }) {
  const [adding, setAdding] = useState(false)
  const list = useQuery({ queryKey: ['hooks', line.id], queryFn: () => got(api.GET('/references/hookconf', { params: { query: { reference: line.id } } })) })
  const endpoints = list.data?.items ?? []
  const add = (
    <Button tone="main" icon="plus" onClick={() => setAdding(true)}>
      {t('webhooks.add')}
    </Button>
  )
  return (
    <div className="page">
      <PageHead title={t('webhooks.title')}>
        <LineChoice value={line.id} lines={lines} to={(id) => `/webhooks/${id}`} />
        {add}
      </PageHead>
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.isSuccess && endpoints.length === 0 && (
        <Empty title={t('webhooks.none')} action={add}>
          {t('webhooks.noneText')}
        </Empty>
      )}
      <div className="stack">
        {endpoints.map((endpoint) => (
          <EndpointCard key={endpoint.endpointId} endpoint={endpoint} />
        ))}
      </div>
      {endpoints.length > 0 && <Deliveries reference={line.id} endpoints={endpoints} />}
      {endpoints.some((one) => one.webhook === echo) && <Echo reference={line.id} />}
      <Curl path={`/references/hookconf?reference=${line.id}`} />
      {adding && <Add line={line} close={() => setAdding(false)} />}
    </div>
  )
}
