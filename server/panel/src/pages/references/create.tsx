import { useState } from 'react'
import { useLocation } from 'wouter'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { Input } from '../../ui/field'
import { Button, Notice } from '../../ui/parts'
import type { Kind } from './kind'
import { type Settings, SettingsForm } from './settings'

const kinds: Kind[] = ['provider-sandbox', 'provider-web', 'provider-cloud', 'provider-messenger']

/** Create makes a reference: its kind first, then what that needs. */
export function Create({ close }: { close: () => void }) {
  const [, go] = useLocation()
  const [kind, setKind] = useState<Kind>('provider-sandbox')
  const [name, setName] = useState('')
  const [settings, setSettings] = useState<Settings>({})
  const act = useAct(() => got(api.POST('/reference', { body: { name, type: kind, settings } })), {
    then: async (reference) => {
      await client.invalidateQueries({ queryKey: ['references'] })
      go(kind === 'provider-sandbox' ? `/inbox/${reference.id}` : `/references/${reference.id}`)
    },
  })
  return (
    <Dialog title={t('references.create')} close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <fieldset className="kinds">
          <legend className="hidden">{t('references.kind')}</legend>
          {kinds.map((one) => (
            <label key={one} className="card kind">
              <input type="radio" name="kind" checked={kind === one} onChange={() => setKind(one)} />
              <span>
                <strong>{t(`references.${one}`)}</strong>
                <br />
                <span className="small mute">{t(`references.${one}.text`)}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {act.problem && !act.wrong('name') && act.problem.errors.some((e) => !e.location.startsWith('body.settings.')) && <Notice tone="bad">{act.problem.message}</Notice>}
        <Input label={t('references.name')} value={name} onChange={(event) => setName(event.target.value)} wrong={act.wrong('name')} required />
        <SettingsForm kind={kind} value={settings} change={setSettings} wrong={act.wrong} />
        <div className="row">
          <Button type="submit" tone="main" busy={act.isPending}>
            {t('references.create')}
          </Button>
          <Button onClick={close}>{t('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}
