import { useQuery } from '@tanstack/react-query'
import { api, got, type Schemas } from '../api/client'
import { t } from '../text'
import { Select } from './field'
import { useGo } from './query-state'

export type Reference = Schemas['MessagingReference']

/** useLines are the lines of the account, at most 200. */
export function useLines() {
  return useQuery({ queryKey: ['references'], queryFn: () => got(api.GET('/reference/list', { params: { query: { limit: 200 } } })) })
}

/** LineChoice leads to the same page of another line. */
export function LineChoice({ value, lines, to }: { value: number; lines: Reference[]; to: (id: number) => string }) {
  const go = useGo()
  return (
    <Select
      label={t('line')}
      value={String(value)}
      onChange={(event) => go(to(Number(event.target.value)))}
      options={lines.map((line) => ({ value: String(line.id), label: line.name }))}
    />
  )
}
