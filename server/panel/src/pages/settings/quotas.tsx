import type { Schemas } from '../../api/client'
import { number, t, time } from '../../text'
import { Badge } from '../../ui/parts'

const names = ['references', 'contacts', 'storage', 'messages', 'runs', 'api'] as const

/** Quotas are what the account may use, and how much of it is used. */
export function Quotas({ quotas }: { quotas: Schemas['Account']['quotas'] }) {
  return (
    <section className="card stack" aria-labelledby="quotas">
      <h2 id="quotas">{t('quotas.title')}</h2>
      <ul className="stack">
        {names.map((name) => {
          const { limit, used, resetsAt } = quotas[name]
          const share = limit === null ? 0 : used / Math.max(limit, 1)
          const value = name === 'storage' ? megabytes : number
          return (
            <li key={name}>
              <div className="row spread">
                <span>
                  {t(`quotas.${name}`)} {share >= 0.8 && <Badge tone={share >= 1 ? 'bad' : 'warn'}>{t(share >= 1 ? 'quotas.full' : 'quotas.nearly')}</Badge>}
                </span>
                <span>{limit === null ? value(used) : t('quotas.of', { used: value(used), limit: value(limit) })}</span>
              </div>
              {limit !== null && <progress aria-label={t(`quotas.${name}`)} max={limit} value={Math.min(used, limit)} />}
              {resetsAt !== null && used > 0 && <span className="small mute">{t('quotas.resets', { at: time(resetsAt) })}</span>}
            </li>
          )
        })}
      </ul>
    </section>
  )
}

const megabytes = (bytes: number) => `${number(bytes / 1e6, { maximumFractionDigits: 1 })} MB`
