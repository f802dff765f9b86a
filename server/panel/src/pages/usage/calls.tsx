import { Link } from 'wouter'
import { api, got, type Schemas } from '../../api/client'
import { usePages } from '../../api/query'
import { number, t, time } from '../../text'
import { Badge, Curl, Failed, Loading, More } from '../../ui/parts'
import { type Feature, features, Filters, useAsked } from './filters'
import { money } from './money'
import { None } from './none'

type Call = Schemas['UsageCall']

const statuses = ['priced', 'estimated', 'unpriced_model', 'unpriced_usage_kind', 'no_usage', 'unknown'] as const
type Status = (typeof statuses)[number]

/** Calls are the calls of models one by one, the newest first. */
export function Calls() {
  const query = useAsked()
  const list = usePages(['usage', 'detail', query], (cursor) => got(api.GET('/aiusage/detail', { params: { query: { ...query, ...(cursor ? { cursor } : {}) } } })))
  return (
    <>
      <div className="usage-filters">
        <Filters />
      </div>
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.isSuccess && list.items.length === 0 && <None />}
      {list.items.length > 0 && (
        <div className="card scroll" tabIndex={0} role="region" aria-label={t('usage.calls')}>
          <table className="table">
            <thead>
              <tr>
                {(['at', 'model', 'feature'] as const).map((name) => (
                  <th key={name} scope="col">
                    {t(`usage.${name}`)}
                  </th>
                ))}
                {(['input', 'output', 'duration', 'cost'] as const).map((name) => (
                  <th key={name} scope="col" className="count">
                    {t(`usage.${name}`)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {list.items.map((call) => (
                <Row key={call.id} call={call} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <More list={list} />
      <Curl path={`/aiusage/detail?${new URLSearchParams(Object.entries(query).map(([k, v]) => [k, String(v)]))}`} />
    </>
  )
}

function Row({ call }: { call: Call }) {
  return (
    <tr>
      <td className="nowrap">{time(call.at)}</td>
      <td>
        <bdi>
          {call.provider}/{call.model}
        </bdi>
        {call.error && (
          <>
            {' '}
            <Badge tone="bad">{call.error}</Badge>
          </>
        )}
      </td>
      <td>
        {features.some((one) => one === call.feature) ? t(`usage.feature.${call.feature as Feature}`) : call.feature}
        {call.reference !== null && call.chatId !== null && (
          <>
            {' · '}
            <Link href={`/inbox/${call.reference}/${encodeURIComponent(call.chatId)}`}>{t('usage.chat')}</Link>
          </>
        )}
        {call.runId !== null && (
          <>
            {' · '}
            <Link href={`/runs/aiflow/${call.runId}`}>{t('usage.run')}</Link>
          </>
        )}
      </td>
      <td className="count">{number(call.inputTokens)}</td>
      <td className="count">{number(call.outputTokens)}</td>
      <td className="count nowrap">{call.durationMs > 0 ? `${number(Math.round(call.durationMs))} ms` : '–'}</td>
      <td className="count">
        {call.cost === null ? '–' : money(call.cost)}
        {call.costStatus !== 'priced' && <div className="small mute">{statuses.some((one) => one === call.costStatus) ? t(`usage.status.${call.costStatus as Status}`) : call.costStatus}</div>}
      </td>
    </tr>
  )
}
