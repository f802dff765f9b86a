import { useState } from 'react'
import { t } from '../../text'
import { Check, Input, Select, TextArea } from '../../ui/field'
import { Button } from '../../ui/parts'
import { type FormProps, put, text } from './config'
import { ModelInput } from './form-intent'
import { type Field, fieldsOf, fieldTypes, schemaOf } from './schema'

export function AIForm({ config, change, wrong }: FormProps) {
  return (
    <>
      <ModelInput label={t('extractors.model')} hint={t('extractors.modelHint')} value={text(config.model)} change={(model) => change({ ...config, model })} wrong={wrong('model')} required />
      <TextArea label={t('extractors.instructions')} hint={t('extractors.instructionsHint')} dir="auto" rows={3} value={text(config.instructions)} onChange={(e) => change(put(config, { instructions: e.target.value }))} wrong={wrong('instructions')} maxLength={8000} />
      <SchemaFields config={config} change={change} wrong={wrong} />
      <Select
        label={t('extractors.when')}
        value={config.when === 'always' ? 'always' : 'missing'}
        onChange={(e) => change(put(config, { when: e.target.value === 'always' ? 'always' : undefined }))}
        options={[
          { value: 'missing', label: t('extractors.whenMissing') },
          { value: 'always', label: t('extractors.whenAlways') },
        ]}
        wrong={wrong('when')}
      />
    </>
  )
}

/** SchemaFields are rows as long as rows can say what the schema says; else it is edited as text. */
function SchemaFields({ config, change, wrong }: FormProps) {
  const [fields, setFields] = useState(() => fieldsOf(config.schema))
  if (!fields) return <SchemaText config={config} change={change} wrong={wrong} />
  const set = (next: Field[]) => {
    setFields(next)
    change({ ...config, schema: schemaOf(next) })
  }
  const put = (at: number, part: Partial<Field>) => set(fields.map((field, i) => (i === at ? { ...field, ...part } : field)))
  const all = wrong('schema')
  return (
    <fieldset className="plain stack">
      <legend>{t('extractors.fields')}</legend>
      {fields.map((field, at) => (
        <fieldset key={at} className="extractor-intent" aria-label={field.name || t('extractors.addField')}>
          <div className="extractor-pair">
            <Input label={t('extractors.fieldName')} value={field.name} onChange={(e) => put(at, { name: e.target.value.trim() })} pattern="[A-Za-z_][A-Za-z0-9_]*" spellCheck={false} autoComplete="off" required />
            <Select label={t('extractors.fieldType')} value={field.type} onChange={(e) => put(at, { type: e.target.value as Field['type'] })} options={fieldTypes.map((value) => ({ value, label: t(`extractors.field.${value}`) }))} />
          </div>
          <Input label={t('extractors.fieldAbout')} hint={t('extractors.fieldAboutHint')} dir="auto" value={field.description} onChange={(e) => put(at, { description: e.target.value })} />
          <div className="row spread">
            <Check label={t('extractors.fieldRequired')} checked={field.required} onChange={(e) => put(at, { required: e.target.checked })} />
            <Button tone="quiet" icon="trash" label={t('extractors.removeField', { name: field.name })} onClick={() => set(fields.filter((_, i) => i !== at))} />
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
      <div>
        <Button icon="plus" onClick={() => set([...fields, { name: '', type: 'string', description: '', required: false }])}>
          {t('extractors.addField')}
        </Button>
      </div>
    </fieldset>
  )
}

function SchemaText({ config, change, wrong }: FormProps) {
  const [typed, setTyped] = useState(() => JSON.stringify(config.schema ?? {}, null, 2))
  const [broken, setBroken] = useState(false)
  return (
    <TextArea
      label={t('extractors.schema')}
      className="input mono"
      rows={12}
      value={typed}
      onChange={(e) => {
        setTyped(e.target.value)
        try {
          change({ ...config, schema: JSON.parse(e.target.value) as unknown })
          setBroken(false)
        } catch {
          setBroken(true)
        }
      }}
      wrong={broken ? t('extractors.notJSON') : wrong('schema')}
      spellCheck={false}
    />
  )
}
