import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { api, got, Problem } from '../../api/client'
import { client } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Confirm, Dialog } from '../../ui/dialog'
import { Badge, Button, Curl, Notice } from '../../ui/parts'
import { TemplateBubble } from '../../ui/template/bubble'
import { callOf, partsOf, placesOf, shownOf, type Template } from '../../ui/template/parts'
import { useExamples, Values } from '../../ui/template/values'
import { categoryName, Quality, Status } from './words'

/** Look shows one template as a contact would see it, with values of one's own. */
export function Look({ template, close, copy }: { template: Template; close: () => void; copy: (() => void) | undefined }) {
  const places = placesOf(template)
  const [values, setValues] = useExamples(places)
  const [deleting, setDeleting] = useState<'' | 'one' | 'all'>('')
  const later = useDeferredValue(values)
  const call = callOf(template, places, later)
  const sendable = template.status === 'APPROVED'
  const preview = useQuery({
    queryKey: ['template-preview', template.id, call],
    queryFn: () => got(api.POST('/templates/preview', { body: { reference: template.reference, template: call } })),
    enabled: sendable,
    placeholderData: keepPreviousData,
  })
  const remove = useAct(
    (all: boolean) => got(api.DELETE('/templates', { params: { query: { reference: template.reference, name: template.name, ...(all ? {} : { language: template.language }) } } })),
    {
      said: t('templates.deleted'),
      then: async () => {
        await client.invalidateQueries({ queryKey: ['templates', template.reference] })
        close()
      },
    },
  )
  const header = partsOf(template).find((part) => part.type.toUpperCase() === 'HEADER')?.format?.toUpperCase()
  if (deleting) {
    return (
      <Confirm
        title={t('templates.delete', { name: template.name })}
        text={t(deleting === 'all' ? 'templates.deleteAllText' : 'templates.deleteText', { language: template.language })}
        action={t('templates.deleteDo')}
        busy={remove.isPending}
        run={() => remove.mutate(deleting === 'all')}
        close={() => setDeleting('')}
      />
    )
  }
  return (
    <Dialog title={template.name} close={close} wide>
      <div className="template-two">
        <div className="stack">
          <dl className="facts">
            <dt>{t('templates.status')}</dt>
            <dd className="row">
              <Status template={template} /> {template.providerStatus !== template.status && <Badge>{template.providerStatus}</Badge>} <Quality template={template} />
            </dd>
            <dt>{t('templates.category')}</dt>
            <dd>{categoryName(template.category)}</dd>
            <dt>{t('templates.language')}</dt>
            <dd>{template.language}</dd>
          </dl>
          {template.reason && <Notice tone="warn">{t('templates.because', { reason: template.reason })}</Notice>}
          {places.length > 0 && <Values places={places} values={values} change={setValues} />}
          <div className="row">
            {copy && <Button onClick={copy}>{t('templates.copy')}</Button>}
            {copy && (
              <Button tone="bad" icon="trash" onClick={() => setDeleting('one')}>
                {t('templates.deleteOne', { language: template.language })}
              </Button>
            )}
            {copy && (
              <Button tone="bad" onClick={() => setDeleting('all')}>
                {t('templates.deleteAll')}
              </Button>
            )}
          </div>
        </div>
        <section className="stack tight" aria-label={t('templates.preview')}>
          <TemplateBubble shown={(sendable && preview.data) || shownOf(template, later)} header={header} />
          {preview.error && <Notice tone="warn">{preview.error instanceof Problem ? (preview.error.errors[0]?.message ?? preview.error.message) : preview.error.message}</Notice>}
          {!sendable && <p className="small mute">{t('templates.notSendable')}</p>}
          {sendable && <Curl method="POST" path="/templates/preview" body={{ reference: template.reference, template: call }} />}
        </section>
      </div>
    </Dialog>
  )
}
