require "time"
require_relative "publishable"

# One article.
class Post
  include Publishable

  attr_reader :title

  def initialize(title)
    @title = title
    @published_at = nil
  end

  # The address of the article.
  def slug
    title.downcase.tr(" ", "-")
  end
end

class Note < Post
  def slug
    "note-" + super
  end
end
