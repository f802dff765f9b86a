import { t } from '../../text'
import { Check, Select, TextArea } from '../../ui/field'
import { type FormProps, groupsOf, groupTypes, put, text } from './config'

const flags = ['i', 'm', 's', 'U'] as const

export function RegexForm({ config, change, wrong }: FormProps) {
  const pattern = text(config.pattern)
  const on = text(config.flags)
  const groups = (config.groups ?? {}) as Record<string, string>
  const names = groupsOf(pattern)
  /** What a group that is no longer there was, is forgotten. */
  const kept = (of: string, types: Record<string, string>) => {
    const there = Object.fromEntries(groupsOf(of).flatMap((name) => (types[name] && types[name] !== 'string' ? [[name, types[name]]] : [])))
    return Object.keys(there).length ? there : undefined
  }
  return (
    <>
      <TextArea
        label={t('extractors.pattern')}
        hint={t('extractors.patternHint')}
        className="input mono"
        rows={3}
        value={pattern}
        onChange={(e) => change(put({ ...config, pattern: e.target.value }, { groups: kept(e.target.value, groups) }))}
        wrong={wrong('pattern')}
        maxLength={1000}
        spellCheck={false}
        required
      />
      <fieldset className="plain stack tight">
        <legend>{t('extractors.flags')}</legend>
        {flags.map((flag) => (
          <Check key={flag} label={t(`extractors.flag.${flag}`)} checked={on.includes(flag)} onChange={(e) => change(put(config, { flags: flags.filter((one) => (one === flag ? e.target.checked : on.includes(one))).join('') }))} />
        ))}
      </fieldset>
      {names.length > 0 && (
        <fieldset className="plain extractor-pair">
          <legend>{t('extractors.groups')}</legend>
          {names.map((name) => (
            <Select
              key={name}
              label={name}
              value={groups[name] ?? 'string'}
              onChange={(e) => change(put(config, { groups: kept(pattern, { ...groups, [name]: e.target.value }) }))}
              options={groupTypes.map((value) => ({ value, label: t(value === 'string' ? 'extractors.type.string' : `extractors.type.${value}`) }))}
              wrong={wrong(`groups.${name}`)}
            />
          ))}
        </fieldset>
      )}
    </>
  )
}
