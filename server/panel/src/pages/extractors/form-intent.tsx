import { useId, useState } from 'react'
import { t } from '../../text'
import { Input, TextArea } from '../../ui/field'
import { Button } from '../../ui/parts'
import { type FormProps, type Intent, list, put, readLines } from './config'
import { useModels } from './create'

export function IntentForm({ config, change, wrong }: FormProps) {
  const intents = list<Intent>(config.intents)
  // Intents have no ids: each keeps a number while it is open, so that what is typed stays with it.
  const [keys, setKeys] = useState(() => intents.map((_, at) => at))
  const set = (next: Intent[]) => change({ ...config, intents: next })
  const all = wrong('intents')
  const one = intents.some((_, at) => wrong(`intents[${at}]`))
  return (
    <>
      <fieldset className="plain stack">
        <legend>{t('extractors.intents')}</legend>
        <p className="small mute">{t('extractors.intentsHint')}</p>
        {intents.map((intent, at) => (
          <OneIntent
            key={keys[at] ?? at}
            intent={intent}
            change={(next) => set(intents.map((other, i) => (i === at ? next : other)))}
            remove={
              intents.length > 2
                ? () => {
                    setKeys(keys.filter((_, i) => i !== at))
                    set(intents.filter((_, i) => i !== at))
                  }
                : undefined
            }
            wrong={(member) => wrong(`intents[${at}]${member}`)}
          />
        ))}
        {all && !one && (
          <p className="field">
            <span className="wrong" role="alert">
              {all}
            </span>
          </p>
        )}
        {intents.length < 200 && (
          <div>
            <Button
              icon="plus"
              onClick={() => {
                setKeys([...keys, Math.max(-1, ...keys) + 1])
                set([...intents, { name: '', examples: [] }])
              }}
            >
              {t('extractors.addIntent')}
            </Button>
          </div>
        )}
      </fieldset>
      <Threshold config={config} change={change} wrong={wrong} />
      <Fallback config={config} change={change} wrong={wrong} />
    </>
  )
}

function OneIntent({ intent, change, remove, wrong }: { intent: Intent; change: (next: Intent) => void; remove: (() => void) | undefined; wrong: (member: string) => string | undefined }) {
  const [lines, setLines] = useState(() => intent.examples.join('\n'))
  return (
    <fieldset className="extractor-intent" aria-label={intent.name || t('extractors.addIntent')}>
      <div className="row">
        <div className="grow">
          <Input label={t('extractors.intentName')} dir="auto" value={intent.name} onChange={(e) => change({ ...intent, name: e.target.value })} wrong={wrong('.name')} maxLength={200} autoComplete="off" required />
        </div>
        {remove && <Button tone="quiet" icon="trash" label={t('extractors.removeIntent', { name: intent.name })} onClick={remove} />}
      </div>
      <TextArea
        label={t('extractors.examples', { name: intent.name })}
        hint={t('extractors.examplesHint', { n: intent.examples.length })}
        dir="auto"
        rows={4}
        value={lines}
        onChange={(e) => {
          setLines(e.target.value)
          change({ ...intent, examples: readLines(e.target.value) })
        }}
        wrong={wrong('.examples')}
        required
      />
    </fieldset>
  )
}

function Threshold({ config, change, wrong }: FormProps) {
  const value = typeof config.threshold === 'number' ? config.threshold : 0.5
  return (
    <Input
      label={t('extractors.threshold', { percent: Math.round(value * 100) })}
      hint={t('extractors.thresholdHint')}
      type="range"
      min={0}
      max={1}
      step={0.05}
      value={value}
      onChange={(e) => change({ ...config, threshold: Number(e.target.value) })}
      wrong={wrong('threshold')}
    />
  )
}

function Fallback({ config, change, wrong }: FormProps) {
  const model = (config.fallback as { model?: string } | undefined)?.model ?? ''
  return <ModelInput label={t('extractors.fallback')} hint={t('extractors.fallbackHint')} value={model} change={(next) => change(put(config, { fallback: next ? { model: next } : undefined }))} wrong={wrong('fallback')} />
}

/** ModelInput asks for a model; those that are known are proposed. */
export function ModelInput({ label, hint, value, change, wrong, required }: { label: string; hint: string; value: string; change: (next: string) => void; wrong: string | undefined; required?: boolean }) {
  const id = useId()
  const models = useModels()
  return (
    <>
      <Input label={label} hint={hint} list={id} value={value} onChange={(e) => change(e.target.value.trim())} wrong={wrong} maxLength={128} placeholder="provider/model" spellCheck={false} autoComplete="off" required={required} />
      <datalist id={id}>
        {models.map((model) => (
          <option key={model.id} value={model.id}>
            {model.title}
          </option>
        ))}
      </datalist>
    </>
  )
}
