import { t } from '../../text'
import { type Piece, piecesOf } from './markup'
import type { Preview } from './parts'
import './template.css'

/** TemplateBubble shows a template as the contact sees it. Whatever it holds is shown as text. */
export function TemplateBubble({ shown, header }: { shown: Preview; header?: string | undefined }) {
  const file = header !== undefined && header !== 'TEXT'
  return (
    <div className="template-phone">
      <div className="template-bubble">
        {shown.header !== undefined &&
          (file ? (
            <p className="template-file" dir="auto">
              {shown.header}
            </p>
          ) : (
            <p className="template-header" dir="auto">
              {shown.header}
            </p>
          ))}
        <p className="template-text" dir="auto">
          <Look pieces={piecesOf(shown.text)} />
        </p>
        {shown.footer && (
          <p className="small mute" dir="auto">
            {shown.footer}
          </p>
        )}
        {shown.buttons && shown.buttons.length > 0 && (
          <ul className="template-buttons">
            {shown.buttons.map((button, at) => (
              <li key={at} title={button.url}>
                <span aria-hidden="true">{signs[button.type] ?? '↩'}</span> <span dir="auto">{button.text || t('template.copyCode')}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  )
}

const signs: Record<string, string> = { URL: '↗', PHONE_NUMBER: '✆', COPY_CODE: '⧉', OTP: '⧉', QUICK_REPLY: '↩' }

function Look({ pieces }: { pieces: Piece[] }) {
  return pieces.map((piece, at) => {
    const inside = piece.inside ? <Look pieces={piece.inside} /> : piece.text
    switch (piece.look) {
      case 'bold':
        return <strong key={at}>{inside}</strong>
      case 'italic':
        return <em key={at}>{inside}</em>
      case 'strike':
        return <s key={at}>{inside}</s>
      case 'mono':
        return <code key={at}>{inside}</code>
      default:
        return inside
    }
  })
}
