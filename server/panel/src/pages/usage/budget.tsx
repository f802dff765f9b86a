import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, got, type Schemas } from '../../api/client'
import { client } from '../../api/query'
import { useMay } from '../../session'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { Check, Input, Select } from '../../ui/field'
import { Button, Notice } from '../../ui/parts'
import { zone } from './filters'

export type Budget = Schemas['BudgetItem']

const scopes = ['account', 'project', 'flow', 'chat'] as const
const periods = ['day', 'month', 'total'] as const

/** BudgetForm asks for one more budget. */
export function BudgetForm({ others, close }: { others: Budget[]; close: () => void }) {
  const [form, setForm] = useState({ scope: 'account' as Budget['scope'], period: 'month' as Budget['period'], target: '', cost: '', tokens: '', refuse: false })
  const set = (part: Partial<typeof form>) => setForm({ ...form, ...part })
  const act = useAct(
    () => {
      const made: Budget = {
        scope: form.scope,
        period: form.period,
        timezone: zone,
        unpriced: form.refuse ? 'refuse' : 'allow',
        ...(form.target && form.scope === 'flow' ? { flowId: form.target } : {}),
        ...(form.target && form.scope === 'project' ? { projectId: form.target } : {}),
        ...(form.cost === '' ? {} : { cost: Math.round(Number(form.cost) * 1e6) }),
        ...(form.tokens === '' ? {} : { tokens: Number(form.tokens) }),
      }
      return got(api.PUT('/aiusage/budget', { body: { items: [made, ...others] } }))
    },
    {
      said: t('saved'),
      then: async () => {
        await client.invalidateQueries({ queryKey: ['usage', 'budgets'] })
        close()
      },
    },
  )
  const wrong = (member: string) => act.wrong(`items[0].${member}`)
  const elsewhere = act.problem?.errors.find((error) => !['cost', 'tokens', 'flowId', 'projectId'].some((name) => error.location === `body.items[0].${name}`))
  return (
    <Dialog title={t('usage.addBudget')} close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        {elsewhere && <Notice tone="bad">{elsewhere.message}</Notice>}
        <Select
          label={t('usage.scope')}
          value={form.scope}
          onChange={(e) => set({ scope: e.target.value as Budget['scope'], target: '' })}
          options={scopes.map((value) => ({ value, label: t(value === 'chat' ? 'usage.each.chat' : `usage.scope.${value}`) }))}
        />
        <Target scope={form.scope} value={form.target} change={(target) => set({ target })} wrong={wrong('flowId') ?? wrong('projectId')} />
        <Select label={t('usage.period')} value={form.period} onChange={(e) => set({ period: e.target.value as Budget['period'] })} options={periods.map((value) => ({ value, label: t(`usage.period.${value}`) }))} />
        <Input label={t('usage.maxCost')} type="number" min={0} step="any" value={form.cost} onChange={(e) => set({ cost: e.target.value })} wrong={wrong('cost')} required={form.tokens === ''} />
        <Input label={t('usage.maxTokens')} type="number" min={0} step={1} value={form.tokens} onChange={(e) => set({ tokens: e.target.value })} wrong={wrong('tokens')} required={form.cost === ''} />
        <Check label={t('usage.refuse')} checked={form.refuse} onChange={(e) => set({ refuse: e.target.checked })} />
        <div className="row">
          <Button type="submit" tone="main" busy={act.isPending}>
            {t('save')}
          </Button>
          <Button onClick={close}>{t('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}

interface TargetProps {
  scope: Budget['scope']
  value: string
  change: (next: string) => void
  wrong: string | undefined
}

/** Target chooses one flow or project, or each of them. */
function Target(props: TargetProps) {
  const may = useMay('flows.manage')
  const { scope } = props
  return may && (scope === 'flow' || scope === 'project') ? <Known {...props} scope={scope} /> : null
}

function Known({ scope, value, change, wrong }: TargetProps & { scope: 'flow' | 'project' }) {
  const query = { limit: 200 }
  const list = useQuery({
    queryKey: ['usage', 'targets', scope],
    queryFn: async (): Promise<{ id: string; name: string }[]> =>
      scope === 'flow' ? (await got(api.GET('/aiflow/flow/list', { params: { query } }))).items : (await got(api.GET('/aiflow/project/list', { params: { query } }))).items,
  })
  const options = [{ value: '', label: t(`usage.each.${scope}`) }, ...(list.data ?? []).map((one) => ({ value: one.id, label: one.name }))]
  return <Select label={t('usage.which')} value={value} onChange={(e) => change(e.target.value)} options={options} wrong={wrong} />
}
