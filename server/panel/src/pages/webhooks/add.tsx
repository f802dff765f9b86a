import { useState } from 'react'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { Input } from '../../ui/field'
import { type Header, Headers } from '../../ui/headers'
import type { Reference } from '../../ui/reference-choice'
import { Button, Code, Notice, Refused } from '../../ui/parts'
import { echo } from './target'
import { Events } from './events'
import { type Format, FormatChoice } from './format'

/** Add registers an endpoint, and shows its secret, which is shown only once. */
export function Add({ reference, close }: { reference: Reference; close: () => void }) {
  const [webhook, setWebhook] = useState('')
  const [headers, setHeaders] = useState<Header[]>([])
  const [events, setEvents] = useState<string[]>(['message', 'status', 'data', 'calls', 'subscription'])
  const [extracted, setExtracted] = useState(false)
  const [format, setFormat] = useState<Format>('trunkline')
  const act = useAct(() => got(api.POST('/references/registerWebHook', { body: { reference: reference.id, webhook, headers, events, include: extracted ? ['extracted'] : [], format } })), {
    then: () => client.invalidateQueries({ queryKey: ['hooks', reference.id] }),
    quiet: true,
  })
  const made = act.data && 'secret' in act.data ? act.data : undefined
  if (act.isSuccess) {
    return (
      <Dialog title={t('webhooks.added')} close={close} footer={<Button onClick={close}>{t('close')}</Button>}>
        <div className="stack">
          {made?.secret ? (
            <>
              <p>{t('webhooks.secretText')}</p>
              <Code>{made.secret}</Code>
            </>
          ) : (
            <p>{t('webhooks.updated')}</p>
          )}
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog title={t('webhooks.add')} close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <Refused error={act.error} />
        {act.wrong('events') && <Notice tone="bad">{act.wrong('events')}</Notice>}
        <Input label="URL" inputMode="url" placeholder="https://example.com/hook" value={webhook} onChange={(e) => setWebhook(e.target.value)} wrong={act.wrong('webhook')} required />
        {reference.type === 'provider-sandbox' && (
          <div>
            <Button onClick={() => setWebhook(echo)}>{t('webhooks.useEcho')}</Button>
          </div>
        )}
        <Headers value={headers} change={setHeaders} wrong={act.wrong} />
        <Events value={events} change={setEvents} extracted={extracted} changeExtracted={setExtracted} />
        <FormatChoice value={format} change={setFormat} wrong={act.wrong('format')} />
        <div className="row">
          <Button type="submit" tone="main" busy={act.isPending}>
            {t('hooks.add')}
          </Button>
          <Button onClick={close}>{t('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}
