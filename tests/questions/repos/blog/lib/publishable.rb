module Publishable
  def publish!
    @published_at = Time.now
  end
end
