import { Component, type ReactNode } from 'react'
import { t } from '../text'
import { Button } from './parts'

const reloaded = 'trunkline.reloaded'

/** unread says whether a file of the panel could not be read: what failed once is not asked for again without a reload. */
const unread = (error: Error) => /dynamically imported module|Importing a module script|preload CSS/.test(error.message)

/** reload loads the panel anew if the server answers; without it nothing would be left to look at. */
async function reload(before?: () => void) {
  const there = await fetch(location.href, { method: 'HEAD' }).catch(() => null)
  if (!there?.ok) return
  before?.()
  location.reload()
}

/** Boundary keeps a page that fails from taking the rest of the panel with it. */
export class Boundary extends Component<{ children: ReactNode; place: string }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override componentDidCatch(error: Error) {
    // After an upgrade the files of the page that is open are gone.
    if (!unread(error) || sessionStorage.getItem(reloaded) === this.props.place) return
    void reload(() => sessionStorage.setItem(reloaded, this.props.place))
  }

  override componentDidUpdate(before: { place: string }) {
    if (before.place !== this.props.place && this.state.error) this.setState({ error: null })
  }

  override render() {
    const { error } = this.state
    if (!error) return this.props.children
    return (
      <div className="empty" role="alert">
        <h2>{t('pageFailed')}</h2>
        <p>{unread(error) ? t('offline') : error.message}</p>
        <Button onClick={() => (unread(error) ? void reload() : this.setState({ error: null }))}>{t('again')}</Button>
      </div>
    )
  }
}
