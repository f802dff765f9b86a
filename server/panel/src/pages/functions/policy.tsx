import type { Schemas } from '../../api/client'
import { useUser } from '../../session'
import { t } from '../../text'
import { Badge } from '../../ui/parts'

export type Descriptor = Schemas['McpDescriptor']

/** Policy is what a function may do, and whether the reader may call it. */
export function Policy({ descriptor: { readOnly, permission } }: { descriptor: Descriptor }) {
  const mine = useUser().permissions.includes(permission)
  return (
    <span className="row">
      <Badge tone={readOnly ? 'none' : 'warn'}>{t(readOnly ? 'functions.reads' : 'functions.writes')}</Badge>
      <Badge tone={mine ? 'ok' : 'bad'}>{mine ? permission : t('functions.lacking', { permission })}</Badge>
    </span>
  )
}
