import type { Schemas } from '../../api/client'
import { number, t, time } from '../../text'
import { Badge } from '../../ui/parts'

export type Attempt = Schemas['Attempt']

/** Answer is what came of one attempt. */
export function Answer({ attempt }: { attempt: Attempt }) {
  const well = attempt.statusCode !== null && attempt.statusCode >= 200 && attempt.statusCode < 300
  return (
    <div className="stack tight" role="status">
      <p className="row">
        <Badge tone={well ? 'ok' : 'bad'}>{attempt.statusCode ?? t('webhooks.noAnswer')}</Badge>
        <span className="small mute">
          {time(attempt.at, 'long')} · {number(attempt.durationMs)} ms
        </span>
        {attempt.error && <span>{attempt.error}</span>}
      </p>
      {attempt.response && (
        <pre className="code" dir="auto" tabIndex={0}>
          {attempt.response}
        </pre>
      )}
    </div>
  )
}
