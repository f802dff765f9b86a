import { Component, type ReactNode } from 'react'
import { t } from '../text'
import { Button } from './parts'

/** Boundary keeps a page that fails from taking the rest of the panel with it. */
export class Boundary extends Component<{ children: ReactNode; place: string }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override componentDidCatch(error: Error) {
    // After an upgrade the files of the page that is open are gone.
    const reloaded = 'trunkline.reloaded'
    if (/dynamically imported module|Importing a module script/.test(error.message) && sessionStorage.getItem(reloaded) !== this.props.place) {
      sessionStorage.setItem(reloaded, this.props.place)
      location.reload()
    }
  }

  override componentDidUpdate(before: { place: string }) {
    if (before.place !== this.props.place && this.state.error) this.setState({ error: null })
  }

  override render() {
    if (!this.state.error) return this.props.children
    return (
      <div className="empty" role="alert">
        <h2>{t('pageFailed')}</h2>
        <p>{this.state.error.message}</p>
        <Button onClick={() => this.setState({ error: null })}>{t('again')}</Button>
      </div>
    )
  }
}
