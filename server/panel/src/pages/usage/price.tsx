import { useState } from 'react'
import { api, got, type Schemas } from '../../api/client'
import { client } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { Input } from '../../ui/field'
import { Button, Notice } from '../../ui/parts'

export type Price = Schemas['PriceItem']

const amounts = ['input', 'output', 'cachedInput'] as const
const labels = { input: 'usage.priceInput', output: 'usage.priceOutput', cachedInput: 'usage.priceCached' } as const

/** PriceForm asks for what a model costs, or for another whose prices it has. */
export function PriceForm({ price, own, close }: { price: Price; own: Price[]; close: () => void }) {
  const [form, setForm] = useState({ ...price, sameAs: price.sameAs ?? '', input: written(price.input), output: written(price.output), cachedInput: written(price.cachedInput) })
  const set = (name: keyof typeof form) => (event: { target: { value: string } }) => setForm({ ...form, [name]: event.target.value })
  const rest = own.filter((one) => one !== price && !(one.provider === form.provider && one.model === form.model))
  const act = useAct(
    () => {
      // What this form does not ask for, such as tiers, stays.
      const { sameAs: _, input: _i, output: _o, cachedInput: _c, ...kept } = price
      const name = { provider: form.provider.trim(), model: form.model.trim() }
      const made: Price = form.sameAs ? { ...name, sameAs: form.sameAs } : { ...kept, ...name, ...amount('input', form.input), ...amount('output', form.output), ...amount('cachedInput', form.cachedInput) }
      return got(api.PUT('/aiusage/pricing', { body: { items: [made, ...rest] } }))
    },
    {
      said: t('saved'),
      then: async () => {
        await client.invalidateQueries({ queryKey: ['usage'] })
        close()
      },
    },
  )
  const wrong = (member: string) => act.wrong(`items[0].${member}`)
  const elsewhere = act.problem?.errors.find((error) => ![...amounts, 'provider', 'model', 'sameAs'].some((name) => error.location === `body.items[0].${name}`))
  return (
    <Dialog title={t('usage.price')} close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        {elsewhere && <Notice tone="bad">{elsewhere.message}</Notice>}
        <Input label={t('usage.provider')} value={form.provider} onChange={set('provider')} wrong={wrong('provider')} autoComplete="off" spellCheck={false} required />
        <Input label={t('usage.model')} value={form.model} onChange={set('model')} wrong={wrong('model')} autoComplete="off" spellCheck={false} required />
        {!form.sameAs &&
          amounts.map((name) => (
            <Input
              key={name}
              label={t(labels[name])}
              hint={name === 'input' ? t('usage.priceHint') : undefined}
              type="number"
              min={0}
              max={100_000}
              step="any"
              value={form[name]}
              onChange={set(name)}
              wrong={wrong(name)}
              required={name !== 'cachedInput'}
            />
          ))}
        <Input label={t('usage.orSameAs')} hint={t('usage.sameAsHint')} value={form.sameAs} onChange={set('sameAs')} wrong={wrong('sameAs')} autoComplete="off" spellCheck={false} />
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

const written = (value: number | undefined) => (value === undefined ? '' : String(value))
const amount = (name: (typeof amounts)[number], text: string) => (text.trim() === '' ? {} : { [name]: Number(text) })
