import { t } from '../../text'
import { Input, Select } from '../../ui/field'
import { Button } from '../../ui/parts'
import { variables } from '../../ui/template/parts'
import { type ButtonType, buttonTypes, type DraftButton, limits } from './draft'

interface Props {
  buttons: DraftButton[]
  change: (next: DraftButton[]) => void
  /** What is wrong with [1].text, or with all of them (''). */
  wrong: (member: string) => string | undefined
}

/** Buttons are what stands below the text, to be pressed. */
export function Buttons({ buttons, change, wrong }: Props) {
  const set = (index: number, part: Partial<DraftButton>) => change(buttons.map((button, i) => (i === index ? { ...button, ...part } : button)))
  const all = wrong('')
  return (
    <fieldset className="plain stack">
      <legend>{t('templates.buttons')}</legend>
      <p className="small mute">{t('templates.buttonsHint')}</p>
      {buttons.map((button, index) => (
        <fieldset key={index} className="template-button" aria-label={t('templates.button', { n: index + 1 })}>
          <div className="template-pair">
            <Select label={t('templates.buttonType')} value={button.type} onChange={(e) => set(index, { type: e.target.value as ButtonType, value: '', example: '' })} options={buttonTypes.map((value) => ({ value, label: t(`templates.button.${value}`) }))} />
            {button.type !== 'COPY_CODE' && (
              <Input label={t('templates.buttonText')} hint={t('templates.most', { n: button.text.length, most: limits.button })} dir="auto" value={button.text} onChange={(e) => set(index, { text: e.target.value })} wrong={wrong(`[${index}].text`)} maxLength={limits.button} required />
            )}
          </div>
          <Value button={button} set={(part) => set(index, part)} wrong={(member) => wrong(`[${index}].${member}`)} />
          <div>
            <Button tone="quiet" icon="trash" onClick={() => change(buttons.filter((_, i) => i !== index))}>
              {t('templates.removeButton', { n: index + 1 })}
            </Button>
          </div>
        </fieldset>
      ))}
      {all && (
        <p className="field">
          <span className="wrong" role="alert">
            {all}
          </span>
        </p>
      )}
      {buttons.length < limits.buttons && (
        <div>
          <Button icon="plus" onClick={() => change([...buttons, { type: 'QUICK_REPLY', text: '', value: '', example: '' }])}>
            {t('templates.addButton')}
          </Button>
        </div>
      )}
    </fieldset>
  )
}

function Value({ button, set, wrong }: { button: DraftButton; set: (part: Partial<DraftButton>) => void; wrong: (member: string) => string | undefined }) {
  switch (button.type) {
    case 'URL':
      return (
        <>
          <Input label={t('templates.url')} hint={t('templates.urlHint')} inputMode="url" placeholder="https://example.com/{{1}}" value={button.value} onChange={(e) => set({ value: e.target.value })} wrong={wrong('url')} maxLength={limits.url} required />
          {variables(button.value).length > 0 && <Input label={t('templates.urlExample')} value={button.example} onChange={(e) => set({ example: e.target.value })} wrong={wrong('example')} required />}
        </>
      )
    case 'PHONE_NUMBER':
      return <Input label={t('templates.phone')} hint={t('templates.phoneHint')} type="tel" value={button.value} onChange={(e) => set({ value: e.target.value })} wrong={wrong('phone_number')} maxLength={limits.phone} required />
    case 'COPY_CODE':
      return <Input label={t('templates.code')} hint={t('templates.codeHint')} value={button.value} onChange={(e) => set({ value: e.target.value })} wrong={wrong('example')} maxLength={15} required />
    case 'QUICK_REPLY':
      return null
  }
}
