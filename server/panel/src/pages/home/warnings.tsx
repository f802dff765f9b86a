import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { api, got, type Schemas } from '../../api/client'
import { useMay } from '../../session'
import { number, t, time } from '../../text'
import { EndpointBadge, EndpointTrouble, fails } from '../../ui/endpoint-state'
import { Badge, Failed, Notice } from '../../ui/parts'

type Endpoint = Schemas['Endpoint']
type Budget = Schemas['BudgetState']

function Card({ name, children }: { name: 'failing' | 'runs' | 'budgets'; children: ReactNode }) {
  return (
    <section className="card stack" aria-labelledby={`home-${name}`}>
      <h2 id={`home-${name}`}>{t(`home.${name}`)}</h2>
      {children}
    </section>
  )
}

/** Failing are the endpoints that refuse what is sent, or to which nothing is sent. */
export function Failing({ endpoints }: { endpoints: Endpoint[] }) {
  const failing = endpoints.filter(fails)
  return (
    <Card name="failing">
      {failing.length === 0 && <p className="mute">{t('home.noFailing')}</p>}
      {failing.map((endpoint) => (
        <EndpointTrouble key={endpoint.endpointId} endpoint={endpoint}>
          <p className="row">
            <EndpointBadge endpoint={endpoint} />
            <Link href={`/webhooks/${endpoint.reference}`}>{endpoint.webhook}</Link>
          </p>
        </EndpointTrouble>
      ))}
    </Card>
  )
}

const recent = 24 * 60 * 60 // seconds

/** FailedRuns are the runs of flows that failed in the last day, the newest first. */
export function FailedRuns() {
  const may = useMay('flows.manage')
  const runs = useQuery({ queryKey: ['runs', 'failed'], queryFn: () => got(api.GET('/aiflow/run', { params: { query: { status: 'failed', limit: 5 } } })), enabled: may })
  if (!may) return null
  const items = (runs.data?.items ?? []).filter((run) => run.startedAt > Date.now() / 1000 - recent)
  return (
    <Card name="runs">
      {runs.error && !runs.data && <Failed error={runs.error} again={() => void runs.refetch()} />}
      {runs.isSuccess && items.length === 0 && <p className="mute">{t('home.noRuns')}</p>}
      {items.map((run) => (
        <Notice key={run.id} tone="bad">
          <Link href={`/runs/flow/${run.id}`}>{time(run.startedAt, 'long')}</Link> – {run.error?.code} {run.error?.message}
        </Notice>
      ))}
      {items.length > 0 && <Link href="/runs?status=failed">{t('home.allRuns')}</Link>}
    </Card>
  )
}

/** used is how much of a budget is spent, from 0. */
function used(budget: Budget): number {
  const part = (spent: number | null | undefined, most: number | null | undefined) => (spent && most ? spent / most : 0)
  return Math.max(part(budget.spentCost, budget.cost), part(budget.spentTokens, budget.tokens))
}

/** BudgetAlarms are the budgets of which four fifths are spent. */
export function BudgetAlarms() {
  const may = useMay('usage.read')
  const list = useQuery({ queryKey: ['usage', 'budgets'], queryFn: () => got(api.GET('/aiusage/budget')), enabled: may })
  const alarms = (list.data?.items ?? []).filter((one) => used(one) >= 0.8)
  if (alarms.length === 0) return null
  return (
    <Card name="budgets">
      {alarms.map((budget, at) => (
        <Notice key={at} tone={used(budget) >= 1 ? 'bad' : 'warn'}>
          <Badge tone={used(budget) >= 1 ? 'bad' : 'warn'}>{number(used(budget), { style: 'percent' })}</Badge> <Link href="/usage?part=budgets">{t(`home.budget.${budget.scope}`)}</Link>{' '}
          {budget.chatId ?? budget.flowId ?? budget.projectId}
        </Notice>
      ))}
    </Card>
  )
}
