import { useMay } from '../../session'
import { t } from '../../text'
import { Empty, PageHead } from '../../ui/parts'
import { useFilter } from '../../ui/query-state'
import { Budgets } from './budgets'
import { Calls } from './calls'
import { Models } from './models'
import { Overview } from './overview'
import { Prices } from './prices'
import './usage.css'

const parts = { overview: Overview, calls: Calls, prices: Prices, budgets: Budgets, models: Models }
type Part = keyof typeof parts

/** Usage shows what language models have taken, what that costs, and what it may cost. */
export default function Usage() {
  const may = useMay('usage.read')
  const mayModels = useMay('flows.manage')
  const [chosen, choose] = useFilter('part')
  if (!may) return <Empty title={t('usage.title')}>{t('usage.forbidden')}</Empty>
  const shown = (Object.keys(parts) as Part[]).filter((part) => part !== 'models' || mayModels)
  const part = shown.find((one) => one === chosen) ?? 'overview'
  const Shown = parts[part]
  return (
    <div className="page usage">
      <PageHead title={t('usage.title')} />
      <div className="tabs">
        {shown.map((one) => (
          <button key={one} type="button" aria-current={one === part ? 'page' : undefined} onClick={() => choose(one === 'overview' ? '' : one)}>
            {t(`usage.${one}`)}
          </button>
        ))}
      </div>
      <Shown />
    </div>
  )
}
