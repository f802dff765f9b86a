import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useParams } from 'wouter'
import { api, got } from '../../api/client'
import { useMay } from '../../session'
import { t } from '../../text'
import { ReferenceChoice, type Reference, useReference } from '../../ui/reference-choice'
import { Button, Curl, Empty, Failed, Loading, PageHead } from '../../ui/parts'
import { Add } from './add'
import { Deliveries } from './deliveries'
import { EndpointCard } from './endpoint'
import { Echo } from './echo'
import { echo } from './target'
import './webhooks.css'

/** Webhooks shows the endpoints of a reference and what was delivered to them. */
export default function Webhooks() {
  const { reference: id } = useParams<{ reference?: string }>()
  const may = useMay('references.read')
  const { reference, references, isPending, error, refetch } = useReference(id)
  if (!may) return <Empty title={t('webhooks.title')}>{t('webhooks.noReferences')}</Empty>
  if (isPending) return <Loading />
  if (error) return <Failed error={error} again={() => void refetch()} />
  if (!reference) {
    return (
      <Empty
        title={t('webhooks.title')}
        action={
          <Link className="button main" href="/references">
            {t('nav.references')}
          </Link>
        }
      >
        {t('webhooks.noReferences')}
      </Empty>
    )
  }
  return <OfReference key={reference.id} reference={reference} references={references} />
}

function OfReference({ reference, references }: { reference: Reference; references: Reference[] }) {
  const [adding, setAdding] = useState(false)
  const list = useQuery({ queryKey: ['hooks', reference.id], queryFn: () => got(api.GET('/references/hookconf', { params: { query: { reference: reference.id } } })) })
  const endpoints = list.data?.items ?? []
  const add = (
    <Button tone="main" icon="plus" onClick={() => setAdding(true)}>
      {t('webhooks.add')}
    </Button>
  )
  return (
    <div className="page">
      <PageHead title={t('webhooks.title')}>
        <ReferenceChoice value={reference.id} references={references} to={(id) => `/webhooks/${id}`} />
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
      {endpoints.length > 0 && <Deliveries reference={reference.id} endpoints={endpoints} />}
      {endpoints.some((one) => one.webhook === echo) && <Echo reference={reference.id} />}
      <Curl path={`/references/hookconf?reference=${reference.id}`} />
      {adding && <Add reference={reference} close={() => setAdding(false)} />}
    </div>
  )
}
