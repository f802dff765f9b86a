import { useId } from 'react'
import { t } from '../../text'
import { Icon } from '../../ui/icon'
import { type Starter, starters } from './starters'

const icons = { menu: 'menu', lead: 'person', hours: 'sun' } as const

/** Gallery shows what a flow can begin with. */
export function Gallery({ value, choose }: { value: Starter['id']; choose: (next: Starter['id']) => void }) {
  const name = useId()
  return (
    <fieldset className="plain gallery">
      <legend>{t('flows.begin')}</legend>
      {starters.map(({ id }) => (
        <label key={id} className="gallery-card">
          <input type="radio" name={name} checked={value === id} onChange={() => choose(id)} />
          <span className="stack tight">
            <span className="row">
              <Icon name={icons[id]} /> <strong>{t(`starter.${id}.title`)}</strong>
            </span>
            <span className="small mute">{t(`starter.${id}.text`)}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

/** made is the document of a starter. */
export const made = (id: Starter['id'], name: string) => (starters.find((one) => one.id === id) ?? starters[0])!.make(name)
