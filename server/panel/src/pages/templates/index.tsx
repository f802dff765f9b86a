import { useState } from 'react'
import { useParams } from 'wouter'
import { api, got } from '../../api/client'
import { usePages } from '../../api/query'
import { useMay } from '../../session'
import { t, time } from '../../text'
import { Select } from '../../ui/field'
import { ReferenceChoice, type Reference, useReferences } from '../../ui/reference-choice'
import { Button, Curl, Empty, Failed, Loading, More, PageHead } from '../../ui/parts'
import { useFilter, useGo } from '../../ui/query-state'
import type { Template } from '../../ui/template/parts'
import { blank, draftOf } from './draft'
import { Editor, kept } from './editor'
import { Look } from './look'
import { starters } from './starters'
import { categoryName, Quality, Status, statuses } from './words'
import './templates.css'

/** Templates are messages that the network approves before they are sent. */
export default function Templates() {
  const { reference: id } = useParams<{ reference?: string }>()
  const references = useReferences()
  const go = useGo()
  if (references.isPending) return <Loading />
  if (references.error && !references.data) return <Failed error={references.error} again={() => void references.refetch()} />
  const able = references.data.items.filter((reference) => reference.capabilities.templates)
  const reference = able.find((one) => String(one.id) === id) ?? able[0]
  if (!reference) {
    return (
      <div className="page">
        <PageHead title={t('templates.title')} />
        <Empty title={t('templates.noReferences')} action={<Button onClick={() => go('/references')}>{t('nav.references')}</Button>}>
          {t('templates.noReferencesText')}
        </Empty>
      </div>
    )
  }
  return <OfReference key={reference.id} reference={reference} references={able} />
}

function OfReference({ reference, references }: { reference: Reference; references: Reference[] }) {
  const may = useMay('templates.manage')
  const [status, setStatus] = useFilter('status')
  const [doing, setDoing] = useFilter('do')
  const [open, setOpen] = useState<Template | null>(null)
  const [draft, setDraft] = useState(blank)
  const wanted = statuses.find((one) => one === status)
  const list = usePages(['templates', reference.id, status], (cursor) => got(api.GET('/templates', { params: { query: { reference: reference.id, limit: 50, ...(wanted ? { status: wanted } : {}), ...(cursor ? { cursor } : {}) } } })))
  const write = (next = kept(reference.id)) => {
    setDraft(next)
    setOpen(null)
    setDoing('write')
  }
  if (doing === 'write' && may) return <Editor key={draft.name} reference={reference} draft={draft === blank ? kept(reference.id) : draft} close={() => setDoing('')} />
  const add = may && (
    <Button tone="main" icon="plus" onClick={() => write()}>
      {t('templates.new')}
    </Button>
  )
  return (
    <div className="page">
      <PageHead title={t('templates.title')}>
        <ReferenceChoice value={reference.id} references={references} to={(id) => `/templates/${id}`} />
        <Select label={t('templates.status')} value={wanted ?? ''} onChange={(event) => setStatus(event.target.value)} options={[{ value: '', label: t('all') }, ...statuses.map((value) => ({ value, label: t(`templates.${value}`) }))]} />
      </PageHead>
      <p className="mute">{t('templates.about')}</p>
      {list.items.length > 0 && add && <div className="row">{add}</div>}
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.isSuccess && list.items.length === 0 && (wanted ? <Empty title={t('templates.noneSo')} /> : <None add={add} begin={may ? write : undefined} />)}
      <ul className="stack tight">
        {list.items.map((template) => (
          <li key={template.id}>
            <Row template={template} open={() => setOpen(template)} />
          </li>
        ))}
      </ul>
      <More list={list} />
      <Curl path={`/templates?reference=${reference.id}${wanted ? `&status=${wanted}` : ''}`} />
      {open && <Look template={open} close={() => setOpen(null)} copy={may ? () => write(draftOf(open)) : undefined} />}
    </div>
  )
}

function Row({ template, open }: { template: Template; open: () => void }) {
  return (
    <button type="button" className="card template-row" data-row onClick={open}>
      <span className="row spread">
        <strong className="mono" dir="auto">
          {template.name}
        </strong>
        <span className="row">
          <Quality template={template} />
          <Status template={template} />
        </span>
      </span>
      <span className="small mute">
        {template.language} · {categoryName(template.category)} · {time(template.updatedAt)}
      </span>
      {template.reason && (
        <span className="small template-reason" dir="auto">
          {t('templates.because', { reason: template.reason })}
        </span>
      )}
    </button>
  )
}

function None({ add, begin }: { add: React.ReactNode; begin: ((draft: typeof blank) => void) | undefined }) {
  return (
    <>
      <Empty title={t('templates.none')} action={add}>
        {t('templates.noneText')}
      </Empty>
      {begin && (
        <section className="stack" aria-labelledby="starters">
          <h2 id="starters">{t('templates.starters')}</h2>
          <div className="template-starters">
            {starters.map((starter) => (
              <Button key={starter.text} onClick={() => begin(starter.draft)}>
                {t(starter.text)}
              </Button>
            ))}
          </div>
        </section>
      )}
    </>
  )
}
