import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { Link } from 'wouter'
import { api, got, type Schemas } from '../../api/client'
import { t } from '../../text'
import { Dialog } from '../../ui/dialog'
import { Select } from '../../ui/field'
import type { Reference } from '../../ui/reference-choice'
import { Button, Empty, Failed, Loading, Notice } from '../../ui/parts'
import { TemplateBubble } from '../../ui/template/bubble'
import { callOf, partsOf, placesOf, shownOf, type Template } from '../../ui/template/parts'
import { useExamples, Values } from '../../ui/template/values'

type Content = Schemas['SendInputBody']['message']

interface Props {
  reference: Reference
  close: () => void
  send: (message: Content) => void
  busy: boolean
  wrong: string | undefined
}

/** Templates sends an approved template: the way to write outside the answer window. */
export function Templates({ reference, close, send, busy, wrong }: Props) {
  const list = useQuery({
    queryKey: ['templates', reference.id, 'to send'],
    queryFn: () => got(api.GET('/templates', { params: { query: { reference: reference.id, status: 'APPROVED', limit: 200 } } })),
  })
  const [chosen, setChosen] = useState('')
  const template = list.data?.items.find((one) => one.id === chosen) ?? list.data?.items[0]
  return (
    <Dialog title={t('inbox.template')} close={close} wide>
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.isSuccess && !template && <Empty title={t('inbox.noTemplates')} action={<Link href={`/templates/${reference.id}`}>{t('templates.title')}</Link>} />}
      {template && (
        <div className="stack">
          {wrong && <Notice tone="bad">{wrong}</Notice>}
          <Select label={t('inbox.template')} value={template.id} onChange={(event) => setChosen(event.target.value)} options={list.data?.items.map((one) => ({ value: one.id, label: `${one.name} (${one.language})` })) ?? []} />
          <Filled key={template.id} template={template} send={send} busy={busy} />
        </div>
      )}
    </Dialog>
  )
}

/** Filled asks for the values of a template, and shows what the contact will see. */
function Filled({ template, send, busy }: { template: Template; send: (message: Content) => void; busy: boolean }) {
  const places = placesOf(template)
  const [values, setValues] = useExamples(places.map((place) => ({ ...place, example: '' })))
  const later = useDeferredValue(values)
  const call = callOf(template, places, later)
  const whole = places.every((place) => later[place.key]?.trim())
  const preview = useQuery({
    queryKey: ['template-preview', template.id, call],
    queryFn: () => got(api.POST('/templates/preview', { body: { reference: template.reference, template: call } })),
    enabled: whole,
    placeholderData: keepPreviousData,
  })
  const header = partsOf(template).find((part) => part.type.toUpperCase() === 'HEADER')?.format?.toUpperCase()
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        send({ type: 'template', template: callOf(template, places, values) })
      }}
    >
      <TemplateBubble shown={(whole && preview.data) || shownOf(template, later)} header={header} />
      {places.length > 0 && <Values places={places} values={values} change={setValues} required />}
      <div>
        <Button type="submit" tone="main" icon="send" busy={busy}>
          {t('inbox.send')}
        </Button>
      </div>
    </form>
  )
}
