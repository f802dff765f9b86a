import { useState } from 'react'
import { t } from '../../text'
import { Check, Input, TextArea } from '../../ui/field'
import { entityTypes, type FormProps, list, put, readWords, text, type Word, writeWords } from './config'

export function EntityForm({ config, change, wrong }: FormProps) {
  const types = list<string>(config.types)
  const [words, setWords] = useState(() => writeWords(list<Word>(config.dictionary)))
  const wrongTypes = wrong('types')
  return (
    <>
      <fieldset className="plain">
        <legend>{t('extractors.types')}</legend>
        <div className="extractor-types">
          {entityTypes.map((type) => (
            <Check
              key={type}
              label={t(`extractors.type.${type}`)}
              checked={types.includes(type)}
              onChange={(e) => change({ ...config, types: e.target.checked ? [...types, type] : types.filter((one) => one !== type) })}
            />
          ))}
        </div>
        {wrongTypes && (
          <p className="field">
            <span className="wrong" role="alert">
              {wrongTypes}
            </span>
          </p>
        )}
      </fieldset>
      {types.includes('phone') && <Check label={t('extractors.possiblePhones')} checked={config.possiblePhones === true} onChange={(e) => change(put(config, { possiblePhones: e.target.checked || undefined }))} />}
      <div className="extractor-pair">
        <Input label={t('extractors.locale')} hint={t('extractors.localeHint')} value={text(config.locale)} onChange={(e) => change(put(config, { locale: e.target.value }))} wrong={wrong('locale')} maxLength={35} spellCheck={false} autoComplete="off" />
        <Input label={t('extractors.region')} hint={t('extractors.regionHint')} value={text(config.region)} onChange={(e) => change(put(config, { region: e.target.value }))} wrong={wrong('region')} maxLength={35} spellCheck={false} autoComplete="off" />
      </div>
      <TextArea
        label={t('extractors.dictionary')}
        hint={t('extractors.dictionaryHint', { n: list(config.dictionary).length })}
        dir="auto"
        rows={6}
        placeholder={'large | big | huge\nsmall | little'}
        value={words}
        onChange={(e) => {
          setWords(e.target.value)
          const read = readWords(e.target.value)
          change(put(config, { dictionary: read.length ? read : undefined }))
        }}
        wrong={wrong('dictionary')}
        spellCheck={false}
      />
    </>
  )
}
