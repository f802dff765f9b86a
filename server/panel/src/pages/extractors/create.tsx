import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { Input, Select } from '../../ui/field'
import { Button, Notice } from '../../ui/parts'
import { useGo } from '../../ui/query-state'
import { begin, type Kind, kinds } from './config'
import { read } from './scope'

/** useModels are the models that can be asked. */
export function useModels() {
  const models = useQuery({ queryKey: ['models'], queryFn: () => got(api.GET('/aiflow/model')), retry: false, staleTime: 60_000 })
  return models.data?.items ?? []
}

/** Create makes an extractor with something to begin with. It reads no messages until it is switched on. */
export function Create({ scopes, scope, close }: { scopes: { value: string; label: string }[]; scope: string; close: () => void }) {
  const go = useGo()
  const models = useModels()
  const [form, setForm] = useState({ name: '', kind: 'regex' as Kind, scope })
  const of = form.scope || scopes[0]?.value || ''
  const act = useAct(
    () => got(api.POST('/extractor', { body: { name: form.name, kind: form.kind, scope: read(of), config: begin(form.kind, models[0]?.id ?? 'mock/assistant') as never, enabled: false } })),
    {
      then: async (made) => {
        await client.invalidateQueries({ queryKey: ['extractors'] })
        go(`/extractors/${made.id}`)
      },
    },
  )
  const elsewhere = act.problem?.errors.find((error) => !/^body\.(name|scope)/.test(error.location))
  return (
    <Dialog title={t('extractors.new')} close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        {elsewhere && <Notice tone="bad">{elsewhere.message}</Notice>}
        <Input label={t('extractors.name')} hint={t('extractors.nameHint')} dir="auto" value={form.name} onChange={(e) => setForm({ ...form, name: e.target.value })} wrong={act.wrong('name')} maxLength={200} autoComplete="off" required />
        <fieldset className="plain stack tight">
          <legend>{t('extractors.kind')}</legend>
          {kinds.map((kind) => (
            <label key={kind} className="check extractor-kind">
              <input type="radio" name="kind" value={kind} checked={form.kind === kind} onChange={() => setForm({ ...form, kind })} />
              <span>
                <strong>{t(`extractors.kind.${kind}`)}</strong>
                <br />
                <span className="small mute">{t(`extractors.kindText.${kind}`)}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <Select label={t('extractors.of')} value={of} onChange={(e) => setForm({ ...form, scope: e.target.value })} options={scopes} wrong={act.wrong('scope') ?? act.wrong('scope.reference') ?? act.wrong('scope.bot') ?? act.wrong('scope.flow')} />
        {scopes.length === 0 && <Notice tone="warn">{t('extractors.noScopes')}</Notice>}
        <div className="row">
          <Button type="submit" tone="main" busy={act.isPending} disabled={act.isPending || !of}>
            {t('extractors.create')}
          </Button>
          <Button onClick={close}>{t('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}
