import { t } from '../../text'
import { Select } from '../../ui/field'
import type { Endpoint } from './target'

export type Format = Endpoint['format']

/** names are of projects, and so the same in every language. */
const names: Record<Format, string> = { trunkline: 'Trunkline', cloud: 'Meta Cloud API', evolution: 'Evolution API', waha: 'WAHA', wuzapi: 'wuzapi' }
const formats = Object.keys(names) as Format[]

/** nameOf is the project in whose form an endpoint gets its requests. */
export const nameOf = (format: Format) => names[format]

/** FormatChoice chooses in which project's form requests are written. */
export function FormatChoice({ value, change, wrong }: { value: Format; change: (next: Format) => void; wrong: string | undefined }) {
  return (
    <Select
      label={t('webhooks.format')}
      hint={t('webhooks.formatHint')}
      wrong={wrong}
      value={value}
      options={formats.map((format) => ({ value: format, label: names[format] }))}
      onChange={(e) => change(e.target.value as Format)}
    />
  )
}
