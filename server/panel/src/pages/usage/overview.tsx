import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { api, got, type Schemas } from '../../api/client'
import { useMay } from '../../session'
import { number, t } from '../../text'
import { Select } from '../../ui/field'
import { useReferences } from '../../ui/reference-choice'
import { Button, Curl, Failed, Loading, Notice } from '../../ui/parts'
import { useFilter } from '../../ui/query-state'
import { Chart } from './chart'
import { type Feature, features, Filters, useAsked, zone } from './filters'
import { money } from './money'
import { None } from './none'
import { bars, csv, type Measure, measures, type Row, type Sum, sums } from './series'

const units = ['hour', 'day', 'week', 'month'] as const
const groups = ['model', 'provider', 'feature', 'reference', 'flow'] as const
type Group = (typeof groups)[number]

/** Overview is what was taken over time, by one thing at a time. */
export function Overview() {
  const [unitWanted, setUnit] = useFilter('unit')
  const [byWanted, setBy] = useFilter('by')
  const [shown, show] = useFilter('show')
  const unit = units.find((one) => one === unitWanted) ?? 'day'
  const by = groups.find((one) => one === byWanted) ?? 'model'
  const what = measures.find((one) => one === shown) ?? 'cost'
  const asked = useAsked()
  const query = { ...asked, timezone: zone, groupBy: [unit, by] }
  const list = useQuery({
    queryKey: ['usage', 'rollup', query],
    queryFn: () => got(api.GET('/aiusage/rollup', { params: { query }, querySerializer: { array: { style: 'form', explode: false } } })),
    placeholderData: (before) => before,
  })
  const rows = list.data?.items ?? []
  const path = `/aiusage/rollup?${new URLSearchParams(Object.entries(query).map(([k, v]) => [k, String(v)]))}`
  return (
    <>
      <div className="usage-filters">
        <Filters />
        <Select label={t('usage.by')} value={by} onChange={(e) => setBy(e.target.value)} options={groups.map((value) => ({ value, label: t(`usage.by.${value}`) }))} />
        <Select label={t('usage.unit')} value={unit} onChange={(e) => setUnit(e.target.value)} options={units.map((value) => ({ value, label: t(`usage.unit.${value}`) }))} />
        <Select label={t('usage.show')} value={what} onChange={(e) => show(e.target.value)} options={measures.map((value) => ({ value, label: t(`usage.${value}`) }))} />
      </div>
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.data && list.data.total.calls === 0 && <None />}
      {list.data && list.data.total.calls > 0 && (
        <>
          <Totals total={list.data.total} />
          {list.data.truncated && <Notice tone="warn">{t('usage.truncated')}</Notice>}
          <Parts rows={rows} unit={unit} by={by} what={what} />
        </>
      )}
      <Curl path={path} />
    </>
  )
}

function Totals({ total }: { total: Schemas['UsageSum'] }) {
  const facts = [
    { name: t('usage.cost'), value: money(total.cost), note: total.unpricedCalls > 0 ? t('usage.atLeast', { n: number(total.unpricedCalls) }) : '' },
    { name: t('usage.calls'), value: number(total.calls), note: total.errors > 0 ? t('usage.failed', { n: number(total.errors) }) : '' },
    { name: t('usage.input'), value: number(total.inputTokens), note: total.cachedInputTokens > 0 ? t('usage.cached', { n: number(total.cachedInputTokens) }) : '' },
    { name: t('usage.output'), value: number(total.outputTokens), note: total.reasoningTokens > 0 ? t('usage.reasoning', { n: number(total.reasoningTokens) }) : '' },
  ]
  return (
    <dl className="totals">
      {facts.map((fact) => (
        <div key={fact.name} className="card">
          <dt className="mute">{fact.name}</dt>
          <dd>
            <span className="total">{fact.value}</span>
            {fact.note && <span className="small mute">{fact.note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Parts({ rows, unit, by, what }: { rows: Row[]; unit: string; by: Group; what: Measure }) {
  const order = sums(rows, by, what)
  const over = bars(rows, unit, by, what, order)
  const write = (value: number) => (what === 'cost' ? money(value) : number(value))
  const save = () => {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([csv(rows, [unit, by])], { type: 'text/csv' }))
    link.download = `usage-${unit}-${by}.csv`
    link.click()
    URL.revokeObjectURL(link.href)
  }
  return (
    <section className="card stack" aria-labelledby="usage-over">
      <div className="row spread">
        <h2 id="usage-over">{t('usage.over', { what: t(`usage.${what}`) })}</h2>
        <Button onClick={save}>{t('usage.csv')}</Button>
      </div>
      <Chart bars={over} what={what} label={t('usage.chart', { what: t(`usage.${what}`) })} />
      <Sums order={order} by={by} />
      <details>
        <summary>{t('usage.table')}</summary>
        <div className="scroll" tabIndex={0} role="region" aria-label={t('usage.table')}>
          <table className="table">
            <thead>
              <tr>
                <th scope="col">{t(`usage.unit.${unit as 'day'}`)}</th>
                <th scope="col" className="count">
                  {t(`usage.${what}`)}
                </th>
              </tr>
            </thead>
            <tbody>
              {over.map((bar) => (
                <tr key={bar.at}>
                  <th scope="row">{bar.at}</th>
                  <td className="count">{write(bar.total)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  )
}

/** Sums are the chart's legend, and its numbers. */
function Sums({ order, by }: { order: Sum[]; by: Group }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t(`usage.by.${by}`)}>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{t(`usage.by.${by}`)}</th>
            {(['calls', 'input', 'output', 'cost'] as const).map((name) => (
              <th key={name} scope="col" className="count">
                {t(`usage.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {order.map((sum) => (
            <tr key={sum.key}>
              <th scope="row">
                <span className="swatch">
                  <svg width="12" height="12" aria-hidden="true">
                    <rect className={`fill s${sum.colour}`} width="12" height="12" rx="3" />
                  </svg>
                  <Name group={by} value={sum.key} />
                </span>
              </th>
              <td className="count">{number(sum.calls)}</td>
              <td className="count">{number(sum.inputTokens)}</td>
              <td className="count">{number(sum.outputTokens)}</td>
              <td className="count">
                {money(sum.cost)}
                {sum.unpricedCalls > 0 && <span className="small mute"> {t('usage.unpriced', { n: number(sum.unpricedCalls) })}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Name({ group, value }: { group: Group; value: string }) {
  if (!value) return <span className="mute">{t('usage.nothing')}</span>
  if (group === 'feature' && features.some((one) => one === value)) return t(`usage.feature.${value as Feature}`)
  if (group === 'reference') return <ReferenceName id={value} />
  if (group === 'flow') return <FlowName id={value} />
  return <bdi>{value}</bdi>
}

function ReferenceName({ id }: { id: string }) {
  const may = useMay('references.read')
  return may ? <KnownReference id={id} /> : id
}

function KnownReference({ id }: { id: string }) {
  const reference = useReferences().data?.items.find((one) => String(one.id) === id)
  return reference ? <Link href={`/references/${id}`}>{reference.name}</Link> : id
}

function FlowName({ id }: { id: string }) {
  const may = useMay('flows.manage')
  const flow = useQuery({ queryKey: ['flow', id], queryFn: () => got(api.GET('/aiflow/flow/{flowId}', { params: { path: { flowId: id } } })), enabled: may, staleTime: 60_000 })
  return flow.data ? <bdi>{flow.data.name}</bdi> : <span className="mono">{id}</span>
}
