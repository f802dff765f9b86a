import { t } from '../../text'
import { Icon, type IconName } from '../../ui/icon'
import { Badge, type Tone } from '../../ui/parts'
import type { Saving, Shown } from './draft'

const signs: Record<Saving, { tone: Tone; icon: IconName }> = {
  saved: { tone: 'ok', icon: 'check' },
  edited: { tone: 'none', icon: 'more' },
  saving: { tone: 'none', icon: 'more' },
  lost: { tone: 'warn', icon: 'warn' },
  refused: { tone: 'bad', icon: 'warn' },
  unreadable: { tone: 'warn', icon: 'warn' },
  conflict: { tone: 'bad', icon: 'warn' },
}

/** SaveState says whether the server has the draft. */
export function SaveState({ shown, ask }: { shown: Shown; ask: () => void }) {
  const { tone, icon } = signs[shown.saving]
  return (
    <span className="save-state" role="status" aria-live="polite">
      <Badge tone={tone}>
        <Icon name={icon} size={12} /> {t(`edit.${shown.saving === 'edited' ? 'saving' : shown.saving}`)}
      </Badge>
      {shown.wrong && <span className="small wrong">{shown.wrong}</span>}
      {shown.saving === 'conflict' && (
        <button type="button" className="link" onClick={ask}>
          {t('edit.decide')}
        </button>
      )}
    </span>
  )
}
