import { useQuery } from '@tanstack/react-query'
import { api, got, type Schemas } from '../../api/client'
import { usePages } from '../../api/query'
import { number, t, time } from '../../text'
import { Select } from '../../ui/field'
import { Badge, Button, Curl, Empty, Failed, Loading, More } from '../../ui/parts'
import { useFilter } from '../../ui/query-state'
import { Tree } from '../../ui/tree'
import { useFunctions } from './catalogue'

type Call = Schemas['AuditedCall']

const outcomes = ['ok', 'forbidden', 'internal', 'invalid_arguments', 'not_found', 'provider_error', 'rate_limited', 'session_not_connected', 'timeout', 'unavailable', 'unknown_function', 'unsupported', 'window_closed']
const spans = ['hour', 'day', 'week'] as const
const seconds = { hour: 3_600, day: 86_400, week: 604_800 }

/** since is where a span began, to the minute, so that a list stays the same while it is read. */
function since(span: string): number | undefined {
  const one = spans.find((known) => known === span)
  return one && Math.floor(Date.now() / 60_000) * 60 - seconds[one]
}

/** Calls is the log of who called which function, refused calls too. */
export function Calls() {
  const [user, setUser] = useFilter('user')
  const [called, setCalled] = useFilter('function')
  const [outcome, setOutcome] = useFilter('outcome')
  const [span, setSpan] = useFilter('span')
  const from = since(span)
  const query = { ...(user ? { user } : {}), ...(called ? { function: called } : {}), ...(outcome ? { outcome } : {}), ...(from ? { from } : {}) }
  const people = useQuery({ queryKey: ['users', 'names'], queryFn: () => got(api.GET('/user/list', { params: { query: { limit: 200 } } })) })
  const functions = useFunctions()
  const list = usePages(['calls', { user, called, outcome, span }], (cursor) => got(api.GET('/service-mcp/audit', { params: { query: { ...query, ...(cursor ? { cursor } : {}) } } })))
  const names = new Map((people.data?.items ?? []).map((one) => [one.id, one.name]))
  const any = { value: '', label: t('all') }
  const known = (values: string[], value: string) => [any, ...(value && !values.includes(value) ? [value, ...values] : values).map((one) => (typeof one === 'string' ? { value: one, label: one } : one))]
  return (
    <>
      <div className="call-filters">
        <Select label={t('functions.who')} value={user} onChange={(event) => setUser(event.target.value)} options={[any, ...[...names].map(([value, label]) => ({ value, label }))]} />
        <Select label={t('functions.function')} value={called} onChange={(event) => setCalled(event.target.value)} options={known((functions.data?.functions ?? []).map((one) => one.name).sort(), called)} />
        <Select label={t('functions.outcome')} value={outcome} onChange={(event) => setOutcome(event.target.value)} options={known(outcomes, outcome)} />
        <Select label={t('functions.span')} value={span} onChange={(event) => setSpan(event.target.value)} options={[any, ...spans.map((value) => ({ value, label: t(`functions.${value}`) }))]} />
        <Button onClick={() => void list.refetch()} busy={list.isFetching}>
          {t('functions.refresh')}
        </Button>
      </div>
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.isSuccess && list.items.length === 0 && <Empty title={t('functions.noCalls')}>{t('functions.noCallsText')}</Empty>}
      {list.items.length > 0 && (
        <ul className="card rows">
          {list.items.map((call) => (
            <Row key={call.id} call={call} who={names.get(call.userId)} />
          ))}
        </ul>
      )}
      <More list={list} />
      <Curl path={`/service-mcp/audit?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))}`} />
    </>
  )
}

function Row({ call, who }: { call: Call; who: string | undefined }) {
  return (
    <li>
      <details className="call">
        <summary className="row" data-row>
          <Badge tone={call.outcome === 'ok' ? 'ok' : 'bad'}>{call.outcome}</Badge>
          <strong className="mono">{call.function}</strong>
          {call.dryRun && <Badge>{t('functions.dryRun')}</Badge>}
          <span className="mute" dir="auto">
            {who ?? call.userId}
          </span>
          <span className="small mute">
            {time(call.at)} · {number(call.durationMs, { maximumFractionDigits: 1 })} ms
          </span>
        </summary>
        <div className="stack call-body">
          <Tree value={call.arguments} />
          <p className="small mute">
            {time(call.at, 'long')} · {call.tokenId ? t('functions.byToken', { id: call.tokenId }) : t('functions.byLogin')}
          </p>
        </div>
      </details>
    </li>
  )
}
