import { t } from '../text'
import { Input } from './field'
import { Button } from './parts'

export interface Header {
  key: string
  value: string
}

/** Headers are names and values that go with a request. */
export function Headers({ value, change, wrong }: { value: Header[]; change: (next: Header[]) => void; wrong: (member: string) => string | undefined }) {
  const set = (at: number, part: Partial<Header>) => change(value.map((header, i) => (i === at ? { ...header, ...part } : header)))
  return (
    <div className="stack">
      {value.map((header, at) => (
        <div key={at} className="row headers">
          <Input label={t('headers.name')} value={header.key} onChange={(event) => set(at, { key: event.target.value })} wrong={wrong(`headers[${at}].key`)} required />
          <Input label={t('headers.value')} value={header.value} onChange={(event) => set(at, { value: event.target.value })} wrong={wrong(`headers[${at}].value`)} autoComplete="off" required />
          <Button tone="quiet" icon="trash" label={t('headers.remove', { name: header.key || String(at + 1) })} onClick={() => change(value.filter((_, i) => i !== at))} />
        </div>
      ))}
      <div>
        <Button icon="plus" onClick={() => change([...value, { key: '', value: '' }])}>
          {t('headers.add')}
        </Button>
      </div>
    </div>
  )
}
