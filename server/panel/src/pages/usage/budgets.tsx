import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, got, type Schemas } from '../../api/client'
import { client } from '../../api/query'
import { useMay } from '../../session'
import { number, t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Badge, Button, Curl, Empty, Failed, Loading } from '../../ui/parts'
import { type Budget, BudgetForm } from './budget'
import { money } from './money'

type State = Schemas['BudgetState']

/** Budgets are what calls may take; one that does not fit is not made. */
export function Budgets() {
  const may = useMay('users.manage')
  const [adding, setAdding] = useState(false)
  const list = useQuery({ queryKey: ['usage', 'budgets'], queryFn: () => got(api.GET('/aiusage/budget')) })
  const items = list.data?.items ?? []
  const save = useAct((kept: State[]) => got(api.PUT('/aiusage/budget', { body: { items: kept.map(asked) } })), {
    said: t('saved'),
    then: () => client.invalidateQueries({ queryKey: ['usage', 'budgets'] }),
  })
  const add = may && (
    <Button tone="main" icon="plus" onClick={() => setAdding(true)}>
      {t('usage.addBudget')}
    </Button>
  )
  if (list.isPending) return <Loading />
  if (list.error && !list.data) return <Failed error={list.error} again={() => void list.refetch()} />
  return (
    <>
      {items.length === 0 ? (
        <Empty title={t('usage.noBudgets')} action={add}>
          {t('usage.noBudgetsText')}
        </Empty>
      ) : (
        <>
          <div className="row">{add}</div>
          <ul className="stack">
            {items.map((budget, at) => (
              <li key={at} className="card stack">
                <Use budget={budget} remove={may ? () => save.mutate(items.filter((one) => one !== budget)) : undefined} />
              </li>
            ))}
          </ul>
        </>
      )}
      <Curl path="/aiusage/budget" />
      {adding && <BudgetForm others={items.map(asked)} close={() => setAdding(false)} />}
    </>
  )
}

/** asked is a budget as it was set, without what was spent. */
function asked({ spentCost: _cost, spentTokens: _tokens, until: _until, ...budget }: State): Budget {
  return budget
}

function Use({ budget, remove }: { budget: State; remove: (() => void) | undefined }) {
  const target = budget.flowId ?? budget.projectId ?? (budget.chatId === undefined ? '' : `${budget.reference}/${budget.chatId}`)
  const name = t(target || budget.scope === 'account' ? `usage.scope.${budget.scope}` : `usage.each.${budget.scope}`)
  return (
    <>
      <div className="row spread">
        <span className="row">
          <h2>{name}</h2>
          {target && <bdi className="mono">{target}</bdi>}
          <Badge>{t(`usage.period.${budget.period}`)}</Badge>
          {budget.unpriced === 'refuse' && <Badge>{t('usage.refuses')}</Badge>}
        </span>
        {remove && <Button tone="quiet" icon="trash" label={t('usage.remove', { name })} onClick={remove} />}
      </div>
      {budget.cost !== undefined && <Meter label={t('usage.cost')} spent={budget.spentCost} most={budget.cost} write={money} />}
      {budget.tokens !== undefined && <Meter label={t('usage.tokens')} spent={budget.spentTokens} most={budget.tokens} write={number} />}
      {budget.until !== null && (
        <p className="small mute">
          {t('usage.until', { at: time(budget.until, 'long') })} {budget.timezone}
        </p>
      )}
    </>
  )
}

/** Meter says how much of a budget is used; one for each of something has no sum. */
function Meter({ label, spent, most, write }: { label: string; spent: number | null; most: number; write: (n: number) => string }) {
  if (spent === null) return <p>{t('usage.upTo', { label, most: write(most) })}</p>
  const share = most > 0 ? spent / most : 1
  return (
    <div>
      <div className="row spread">
        <span>{t('usage.spent', { label, spent: write(spent), most: write(most) })}</span>
        {share >= 0.8 && <Badge tone={share >= 1 ? 'bad' : 'warn'}>{share >= 1 ? t('usage.usedUp') : t('usage.nearly')}</Badge>}
      </div>
      <svg className="meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect className="whole" width="100" height="8" />
        <rect className={share >= 1 ? 'over' : 'part'} width={Math.min(share, 1) * 100} height="8" />
      </svg>
    </div>
  )
}
