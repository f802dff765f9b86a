import type { Schemas } from '../../api/client'
import { t } from '../../text'
import { Badge, type Tone } from '../../ui/parts'

export type Run = Schemas['RunView']
export type Status = Run['status']

export const tones: Record<Status, Tone> = { running: 'brand', waiting: 'warn', completed: 'ok', failed: 'bad', cancelled: 'none' }

export function StatusBadge({ run }: { run: Run }) {
  return (
    <Badge tone={tones[run.status]}>
      {t(`run.${run.status}`)}
      {run.waitingFor && `: ${t(`wait.${run.waitingFor}`)}`}
    </Badge>
  )
}
