import { t } from '../../text'
import { Check } from '../../ui/field'

export const events = ['message', 'status', 'data', 'calls', 'subscription', 'session'] as const
export type Event = (typeof events)[number]

/** Events chooses what an endpoint is told of. */
export function Events({ value, change, extracted, changeExtracted }: { value: string[]; change: (next: string[]) => void; extracted: boolean; changeExtracted: (next: boolean) => void }) {
  return (
    <fieldset className="plain">
      <legend>{t('webhooks.events')}</legend>
      <div className="stack tight">
        {events.map((event) => (
          <Check
            key={event}
            label={event}
            hint={t(`event.${event}`)}
            checked={value.includes(event)}
            onChange={(e) => change(e.target.checked ? [...value, event] : value.filter((one) => one !== event))}
          />
        ))}
        <Check label={t('webhooks.extracted')} hint={t('webhooks.extractedHint')} checked={extracted} onChange={(e) => changeExtracted(e.target.checked)} />
      </div>
    </fieldset>
  )
}
