import { useState } from 'react'
import { root } from '../../api/client'
import { t } from '../../text'
import { Dialog } from '../../ui/dialog'

/** Attachment is a file of a message: shown where browsers can, else to be kept. */
export function Attachment({ type, url, name }: { type: string; url: string; name?: string | undefined }) {
  const src = url.startsWith('blob:') ? url : `${root}/${url}`
  switch (type) {
    case 'image':
      return <Picture src={src} />
    case 'sticker':
      return <img className="bubble-media" src={src} alt={t('media.image')} loading="lazy" />
    case 'video':
      return <video className="bubble-media" src={src} controls preload="none" />
    case 'audio':
      return <audio src={src} controls preload="none" />
    default:
      return (
        <a href={src} download={name ?? ''}>
          <span dir="auto">{name || t('media.document')}</span>
        </a>
      )
  }
}

/** Picture opens large. */
function Picture({ src }: { src: string }) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="picture" title={t('inbox.enlarge')} onClick={() => setOpen(true)}>
        <img className="bubble-media" src={src} alt={t('media.image')} loading="lazy" />
      </button>
      {open && (
        <Dialog title={t('media.image')} close={() => setOpen(false)} wide footer={<a className="button" href={src} download>{t('inbox.download')}</a>}>
          <img className="picture-large" src={src} alt={t('media.image')} />
        </Dialog>
      )}
    </>
  )
}
