import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { useMay } from '../../session'
import { number, t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Button, Curl, Failed, Loading } from '../../ui/parts'
import { toast } from '../../ui/toast'
import { type Price, PriceForm } from './price'

/** Prices are the account's own, before those that the server knows. */
export function Prices() {
  const may = useMay('users.manage')
  const [editing, edit] = useState<Price | null>(null)
  const prices = useQuery({ queryKey: ['usage', 'pricing'], queryFn: () => got(api.GET('/aiusage/pricing')) })
  const own = prices.data?.items ?? []
  const save = useAct((items: Price[]) => got(api.PUT('/aiusage/pricing', { body: { items } })), { said: t('saved'), then: () => client.invalidateQueries({ queryKey: ['usage'] }) })
  const reprice = useAct(() => got(api.POST('/aiusage/reprice', { body: {} })), {
    then: ({ changed }) => {
      toast('ok', t('usage.repriced', { n: number(changed) }))
      return client.invalidateQueries({ queryKey: ['usage'] })
    },
  })
  if (prices.isPending) return <Loading />
  if (prices.error && !prices.data) return <Failed error={prices.error} again={() => void prices.refetch()} />
  return (
    <>
      <Missing set={may ? (provider, model) => edit({ provider, model }) : undefined} />
      <section className="card stack" aria-labelledby="own-prices">
        <div className="row spread">
          <h2 id="own-prices">{t('usage.own')}</h2>
          {may && (
            <span className="row">
              <Button busy={reprice.isPending} onClick={() => reprice.mutate(undefined)}>
                {t('usage.reprice')}
              </Button>
              <Button tone="main" icon="plus" onClick={() => edit({ provider: '', model: '' })}>
                {t('usage.addPrice')}
              </Button>
            </span>
          )}
        </div>
        <p className="mute">{t('usage.ownText')}</p>
        {own.length > 0 && <Own items={own} edit={may ? edit : undefined} remove={may ? (price) => save.mutate(own.filter((one) => one !== price)) : undefined} />}
        <p className="small mute">
          {(prices.data.sources ?? []).map((source) => t('usage.source', { source: source.source, version: source.version, n: number(source.models) })).join(' · ')}
        </p>
      </section>
      <Curl path="/aiusage/pricing" />
      {editing && <PriceForm price={editing} own={own} close={() => edit(null)} />}
    </>
  )
}

function Own({ items, edit, remove }: { items: Price[]; edit: ((price: Price) => void) | undefined; remove: ((price: Price) => void) | undefined }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('usage.prices')}>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{t('usage.model')}</th>
            <th scope="col" className="count">
              {t('usage.priceInput')}
            </th>
            <th scope="col" className="count">
              {t('usage.priceOutput')}
            </th>
            <th scope="col" className="count">
              {t('usage.priceCached')}
            </th>
            <th scope="col">
              <span className="hidden">{t('usage.change')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((price) => {
            const name = `${price.provider}/${price.model}`
            return (
              <tr key={name}>
                <th scope="row">
                  <bdi>{name}</bdi>
                  {price.sameAs && <div className="small mute">{t('usage.sameAs', { model: price.sameAs })}</div>}
                </th>
                {[price.input, price.output, price.cachedInput].map((value, at) => (
                  <td key={at} className="count">
                    {value === undefined ? '–' : number(value, { maximumFractionDigits: 6 })}
                  </td>
                ))}
                <td>
                  <span className="row end">
                    {edit && <Button onClick={() => edit(price)}>{t('usage.change')}</Button>}
                    {remove && <Button tone="quiet" icon="trash" label={t('usage.remove', { name })} onClick={() => remove(price)} />}
                  </span>
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

/** Missing are models that were used and whose price nobody knows. */
function Missing({ set }: { set: ((provider: string, model: string) => void) | undefined }) {
  const list = useQuery({ queryKey: ['usage', 'missing'], queryFn: () => got(api.GET('/aiusage/missing-pricing')) })
  const items = list.data?.items ?? []
  if (list.error && !list.data) return <Failed error={list.error} again={() => void list.refetch()} />
  return (
    <section className="card stack" aria-labelledby="missing">
      <h2 id="missing">{t('usage.missing')}</h2>
      {list.isSuccess && items.length === 0 && <p className="mute">{t('usage.noMissing')}</p>}
      {items.length > 0 && (
        <ul className="stack">
          {items.map((one) => (
            <li key={`${one.provider}/${one.model}`} className="row spread">
              <span>
                <bdi>
                  {one.provider}/{one.model}
                </bdi>
                <div className="small mute">{t('usage.used', { calls: number(one.calls), tokens: number(one.inputTokens + one.outputTokens), at: time(one.lastSeen) })}</div>
              </span>
              {set && <Button onClick={() => set(one.provider, one.model)}>{t('usage.setPrice')}</Button>}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
