import { useState } from 'react'
import { Link, useParams } from 'wouter'
import { api, got } from '../../api/client'
import { usePages } from '../../api/query'
import { useMay } from '../../session'
import { t } from '../../text'
import { Select } from '../../ui/field'
import { Badge, Button, Curl, Empty, Failed, Loading, More, PageHead } from '../../ui/parts'
import { useFilter } from '../../ui/query-state'
import type { Extractor } from './config'
import { Create } from './create'
import { OneExtractor } from './extractor'
import { nameOf, read, useScopes } from './scope'
import { Training } from './training'
import './extractors.css'

/** Extractors find values in the messages of contacts. */
export default function Extractors() {
  const { id } = useParams<{ id?: string }>()
  const may = useMay('extractors.manage')
  if (!may) return <Empty title={t('extractors.title')}>{t('extractors.noPermission')}</Empty>
  return id ? <OneExtractor key={id} id={id} /> : <List />
}

function List() {
  const [scope, setScope] = useFilter('of')
  const [creating, setCreating] = useState(false)
  const scopes = useScopes()
  const query = read(scope)
  const list = usePages(['extractors', scope], (cursor) => got(api.GET('/extractor/list', { params: { query: { ...query, limit: 50, ...(cursor ? { cursor } : {}) } } })))
  const add = (
    <Button tone="main" icon="plus" onClick={() => setCreating(true)}>
      {t('extractors.new')}
    </Button>
  )
  return (
    <div className="page">
      <PageHead title={t('extractors.title')}>
        <Select label={t('extractors.of')} value={scope} onChange={(event) => setScope(event.target.value)} options={[{ value: '', label: t('all') }, ...scopes]} />
      </PageHead>
      <p className="mute">{t('extractors.about')}</p>
      {list.items.length > 0 && <div className="row">{add}</div>}
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.isSuccess && list.items.length === 0 && (
        <Empty title={t('extractors.none')} action={add}>
          {t('extractors.noneText')}
        </Empty>
      )}
      <ul className="stack tight">
        {list.items.map((extractor) => (
          <li key={extractor.id}>
            <Row extractor={extractor} scope={nameOf(extractor.scope, scopes)} />
          </li>
        ))}
      </ul>
      <More list={list} />
      <Curl path={`/extractor/list${scope ? `?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))}` : ''}`} />
      {creating && <Create scopes={scopes} scope={scope} close={() => setCreating(false)} />}
    </div>
  )
}

function Row({ extractor, scope }: { extractor: Extractor; scope: string }) {
  return (
    <Link href={`/extractors/${extractor.id}`} className="card extractor-row" data-row>
      <span className="row spread">
        <strong dir="auto">{extractor.name}</strong>
        <span className="row">
          <Training extractor={extractor} />
          <Badge tone={extractor.enabled ? 'ok' : 'none'}>{t(extractor.enabled ? 'extractors.on' : 'extractors.off')}</Badge>
        </span>
      </span>
      <span className="small mute" dir="auto">
        {t(`extractors.kind.${extractor.kind}`)} · {scope}
      </span>
    </Link>
  )
}
