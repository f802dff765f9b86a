import { root } from '../../api/client'
import { t } from '../../text'

/** Attachment is a file of a message: shown where browsers can, else to be kept. */
export function Attachment({ type, url, name }: { type: string; url: string; name?: string | undefined }) {
  const src = `${root}/${url}`
  switch (type) {
    case 'image':
    case 'sticker':
      return <img className="bubble-media" src={src} alt={t('media.image')} loading="lazy" />
    case 'video':
      return <video className="bubble-media" src={src} controls preload="none" />
    case 'audio':
      return <audio src={src} controls preload="none" />
    default:
      return (
        <a href={src} download>
          <span dir="auto">{name || t('media.document')}</span>
        </a>
      )
  }
}
