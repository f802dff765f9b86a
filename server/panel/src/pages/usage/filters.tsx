import { useMay } from '../../session'
import { t } from '../../text'
import { Input, Select } from '../../ui/field'
import { useReferences } from '../../ui/reference-choice'
import { useFilter } from '../../ui/query-state'

export const features = ['assistant', 'agent', 'extractor', 'knowledge', 'draft'] as const
export type Feature = (typeof features)[number]
export const spans = ['7', '30', '90', '365'] as const

/** zone is whose days are counted. */
export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** useAsked are the filters of the address, as the API wants them. */
export function useAsked() {
  const [span] = useFilter('span')
  const [feature] = useFilter('feature')
  const [model] = useFilter('model')
  const [reference] = useFilter('reference')
  const [flow] = useFilter('flow')
  const begin = new Date()
  begin.setHours(0, 0, 0, 0)
  begin.setDate(begin.getDate() - Number(spans.find((one) => one === span) ?? '30') + 1)
  return {
    from: Math.floor(begin.getTime() / 1000),
    ...(feature ? { feature } : {}),
    ...(model ? { model } : {}),
    ...(flow ? { flow } : {}),
    ...(/^\d+$/.test(reference) ? { reference: Number(reference) } : {}),
  }
}

/** Filters choose which calls are looked at. */
export function Filters() {
  const [span, setSpan] = useFilter('span')
  const [feature, setFeature] = useFilter('feature')
  const [model, setModel] = useFilter('model')
  const [flow, setFlow] = useFilter('flow')
  return (
    <>
      <Select label={t('usage.span')} value={span || '30'} onChange={(e) => setSpan(e.target.value)} options={spans.map((n) => ({ value: n, label: t('usage.days', { n }) }))} />
      <Select
        label={t('usage.feature')}
        value={feature}
        onChange={(e) => setFeature(e.target.value)}
        options={[{ value: '', label: t('all') }, ...features.map((value) => ({ value, label: t(`usage.feature.${value}`) }))]}
      />
      <Reference />
      <Input label={t('usage.model')} value={model} onChange={(e) => setModel(e.target.value)} autoComplete="off" spellCheck={false} />
      {flow && <Input label={t('usage.flow')} value={flow} onChange={(e) => setFlow(e.target.value)} />}
    </>
  )
}

function Reference() {
  return useMay('references.read') ? <ReferenceFilter /> : null
}

function ReferenceFilter() {
  const [reference, setReference] = useFilter('reference')
  const references = useReferences()
  const options = [{ value: '', label: t('all') }, ...(references.data?.items ?? []).map((reference) => ({ value: String(reference.id), label: reference.name }))]
  return <Select label={t('reference')} value={reference} onChange={(e) => setReference(e.target.value)} options={options} />
}
