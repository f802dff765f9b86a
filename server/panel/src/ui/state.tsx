import type { Schemas } from '../api/client'
import { t } from '../text'
import { Badge, type Tone } from './parts'

type Session = Schemas['MessagingSession']

const tones: Record<Session['state'], Tone> = { CONNECTED: 'ok', PAIRING: 'warn', STARTING: 'warn', RECONNECTING: 'warn', STOPPED: 'none', LOGGED_OUT: 'bad', FAILED: 'bad' }

/** StateBadge says how a reference is, and why it is not well unless that stands elsewhere. */
export function StateBadge({ session, brief }: { session: Session; brief?: boolean }) {
  return (
    <span className="row">
      {!brief && session.lastError && session.state !== 'CONNECTED' && <span className="small mute">{session.lastError.message}</span>}
      <Badge tone={tones[session.state]}>{t(`state.${session.state}`)}</Badge>
    </span>
  )
}
